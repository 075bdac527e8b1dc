/**
 * Asks as a script of a page from elsewhere would, and its browser before it (`OPTIONS`); answers with the headers by which the page would
 * be let in. Cookies and tokens go with it, which is the worst case.
 */
export async function sharingHeaders(
  url: string,
  { method = "GET", ...init }: Omit<RequestInit, "headers"> & { headers?: Record<string, string> } = {},
): Promise<string[]> {
  const shared: string[] = [];
  for (const origin of ["https://elsewhere.example", "null"]) {
    const asked = {
      origin,
      "access-control-request-method": method,
      "access-control-request-headers": "authorization, content-type",
    };
    for (const each of [method, "OPTIONS"]) {
      const body = each === method ? init.body : undefined;
      const response = await fetch(url, {
        ...init,
        method: each,
        body: body ?? null,
        headers: { ...init.headers, ...asked },
        redirect: "manual",
      });
      await response.arrayBuffer();
      const names = [...response.headers.keys()].filter((name) => name.startsWith("access-control-"));
      shared.push(...names.map((name) => `${each} ${url} for ${origin}: ${name}`));
    }
  }
  return shared;
}
