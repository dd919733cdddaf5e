import { entryHash, firstHash } from '../../domain/book-chain.ts';
import { findWrongCheckpoints } from '../../store/chain/place-checkpoints.ts';
import {
  countUnsealed,
  findHead,
  findWrongBalances,
  findWrongInFlight,
  listBookNetworks,
  listSealed,
} from '../../store/money/books.ts';
import type { Reader } from '../../store/plumbing/database.ts';

export interface BooksReport {
  readonly network: string;
  readonly sealed: number;
  /** The hash of the last sealed entry. A copy kept elsewhere proves every entry up to it. */
  readonly head: string;
  /** Entries that are not part of the chain of hashes yet. */
  readonly unsealed: { readonly count: number; readonly oldest: Date | null };
  readonly problems: readonly string[];
}

const PAGE = 1_000;
/** The maximum number of problems in a report. A hundred differences are as useful as thousands. */
const MAX_PROBLEMS = 100;

/** Recomputes every hash, every balance and every checkpoint of movements. Names every changed entry. */
export async function verifyBooks(db: Reader): Promise<BooksReport[]> {
  const reports: BooksReport[] = [];
  for (const network of await listBookNetworks(db)) reports.push(await verifyNetwork(db, network));
  return reports;
}

async function verifyNetwork(db: Reader, network: string): Promise<BooksReport> {
  // The head is read before the rows, so that entries sealed meanwhile come after it.
  const head = await findHead(db, network);
  const chain = await verifyChain(db, network, head?.sequence ?? 0);
  const problems = [...chain.problems];
  if (head !== undefined && chain.sequence < head.sequence) {
    problems.push(`Entries ${chain.sequence + 1} to ${head.sequence} are missing at the end.`);
  } else if (head !== undefined && chain.hash !== head.hash) {
    problems.push(`The last entry, ${head.sequence}, does not have the hash that was noted for it.`);
  }
  // Each of these comparisons is one SQL statement, and therefore sees one snapshot.
  const [balances, inFlight, unsealed, checkpoints] = await Promise.all([
    findWrongBalances(db, network),
    findWrongInFlight(db, network),
    countUnsealed(db, network),
    findWrongCheckpoints(db, network, MAX_PROBLEMS),
  ]);
  for (const { account, asset, kept, computed } of balances) {
    problems.push(`The balance of ${account} in ${asset} is kept as ${kept}, but its entries add up to ${computed}.`);
  }
  for (const { asset, booked, items } of inFlight) {
    problems.push(`In flight in ${asset} are ${booked} by the books, and ${items} by the items.`);
  }
  for (const { address, paymentId } of checkpoints) {
    problems.push(`The checkpoint of the deposit address ${address} of ${paymentId} is not the sum of its transfers.`);
  }
  return { network, sealed: chain.sequence, head: chain.hash, unsealed, problems };
}

/**
 * Walks the chain of hashes. After a changed entry it continues with the stored hash, so that each change is reported
 * separately.
 */
async function verifyChain(db: Reader, network: string, last: number) {
  const problems: string[] = [];
  const report = (problem: string) => {
    if (problems.length < MAX_PROBLEMS) problems.push(problem);
  };
  let sequence = 0;
  let hash = firstHash(network);
  while (sequence < last) {
    const page = await listSealed(db, network, sequence, PAGE);
    if (page.length === 0) break;
    for (const entry of page) {
      // Entries sealed after the head was read belong to the next run.
      if (entry.sequence > last) return { problems, sequence, hash };
      const expected = sequence + 1;
      if (entry.sequence !== expected) {
        const which =
          entry.sequence - 1 === expected ? `Entry ${expected} is` : `Entries ${expected} to ${entry.sequence - 1} are`;
        report(`${which} missing.`);
      } else if (entryHash(hash, entry) !== entry.hash) {
        report(`Entry ${entry.sequence} (${entry.kind} of ${entry.subject}, id ${entry.id}) was changed.`);
      }
      sequence = entry.sequence;
      hash = entry.hash;
    }
  }
  return { problems, sequence, hash };
}
