/**
 * ISO 4217 alphabetic codes of money: what circulates, the funds codes, and those withdrawn in the last years, because an order
 * placed before a changeover is still refunded after it. Precious metals, test codes and "no currency" are not money here.
 */
const CODES =
  "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF " +
  "CHW CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD " +
  "HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL " +
  "MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD " +
  "RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD " +
  "USN UYI UYU UYW UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG ZWL";

const CURRENCIES: ReadonlySet<string> = new Set(CODES.split(" "));

export function isCurrency(code: string): boolean {
  return CURRENCIES.has(code);
}

/** ISO 4217's minor units where they are not two: what circulates without any, and what has thousandths or less. */
const DIGITS: ReadonlyMap<string, number> = new Map([
  ..."BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(" ").map(digits(0)),
  ..."BHD IQD JOD KWD LYD OMR TND".split(" ").map(digits(3)),
  ..."CLF UYW".split(" ").map(digits(4)),
]);

function digits(count: number): (code: string) => readonly [string, number] {
  return (code) => [code, count];
}

/**
 * How many digits of a minor amount stand behind the point when people read it: 1200 is 1,200 JPY, 12.00 EUR and 1.200 KWD. Taken
 * from ISO 4217 and not from the runtime's own tables, which round some currencies as shops do.
 */
export function minorDigitsOf(currency: string): number {
  return DIGITS.get(currency) ?? 2;
}
