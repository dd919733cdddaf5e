import { ACCOUNTS, type Entry, type EntrySubject, entry, OPERATOR_FLOAT, type Proof } from './books.ts';

/**
 * The parts of a departure by the account of the books that pays for them. A departure is a transfer from our account that the
 * gateway did not order.
 */
export interface Departed {
  readonly fees: bigint;
  readonly operatorFloat: bigint;
  readonly missing: bigint;
}

/** The entry for a departure. The operator's fees and float pay for it, and the rest is booked as missing. */
export function departedEntry(
  about: EntrySubject,
  { fees, operatorFloat, missing }: Departed,
  { account, ...proof }: Proof & { readonly account: string },
): Entry {
  const lines = [
    { account: ACCOUNTS.fees, units: -fees },
    { account: ACCOUNTS.float(OPERATOR_FLOAT), units: -operatorFloat },
    { account: ACCOUNTS.missing(account), units: -missing },
    { account: ACCOUNTS.outside, units: fees + operatorFloat + missing },
  ];
  return entry('departed', about, lines, proof);
}

/** The entry for operator money that replaces missing money. */
export function missingFilledEntry(about: EntrySubject, account: string, units: bigint, proof: Proof): Entry {
  const lines = [
    { account: ACCOUNTS.outside, units: -units },
    { account: ACCOUNTS.missing(account), units },
  ];
  return entry('float_added', about, lines, proof);
}
