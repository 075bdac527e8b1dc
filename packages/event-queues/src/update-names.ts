/** Where committed news go: one job for each version of an order. In braces, so that all of its keys fall into one Cluster slot. */
export const UPDATES_QUEUE = "{order-updates}";

/**
 * The id of the job that tells of one version of an order. The same news always have the same one, so that a second job is not
 * made while the first is there. BullMQ takes no colon in it, and no lcid has an exclamation mark.
 */
export function updateJobId({ lcid, version }: { readonly lcid: string; readonly version: number }): string {
  return `${encodeURIComponent(lcid)}!${version}`;
}
