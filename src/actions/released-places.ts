import type { Lot } from '../domain/money/terms.ts';
import type { MacFields } from '../domain/row-mac.ts';
import {
  type DepositPlace,
  listReleasedPlaces,
  lockReleasedPlaces,
  type ReleasedPlace,
  setReleaseMacs,
} from '../store/chain/deposit-places.ts';
import type { Reader } from '../store/plumbing/database.ts';
import { type Pages, renewMacs } from './renew-macs.ts';
import { macsOf, type RowKeyDeps } from './row-keys.ts';

/**
 * The release of an address by an operator: money of senders on the screening list stops no sweep of it any more. It carries a MAC
 * under a key outside the database.
 */
export const { macOf: releaseMac, isOwn: isOwnRelease } = macsOf('deposit_places', fieldsOf);

/** The places of a payment that an operator has released. Releases that the gateway did not write have no effect. */
async function ownReleases(deps: RowKeyDeps, db: Reader, paymentId: string): Promise<readonly ReleasedPlace[]> {
  return (await listReleasedPlaces(db, paymentId)).filter((place) => isOwnRelease(deps, place));
}

/** The lots of screened senders, which wait for a person unless they are dust. A person may have released their place. */
export async function stoppedLots(
  deps: RowKeyDeps,
  db: Reader,
  paymentId: string,
  lots: readonly Lot[],
): Promise<ReadonlySet<string>> {
  const screened = lots.filter(({ isScreened }) => isScreened);
  const released = screened.length === 0 ? [] : await ownReleases(deps, db, paymentId);
  const isReleased = ({ network, commitment }: Lot) =>
    released.some((place) => place.network === network && place.commitment === commitment);
  return new Set(screened.filter((lot) => !isReleased(lot)).map(({ id }) => id));
}

export function renewReleaseMacs(
  pages: Pages,
  deps: RowKeyDeps,
  isTrusted: (row: ReleasedPlace) => boolean,
): Promise<number> {
  const macOf = (row: ReleasedPlace) => releaseMac(deps, row);
  return renewMacs(pages, { lock: lockReleasedPlaces, macOf, write: setReleaseMacs }, isTrusted);
}

function fieldsOf({ network, commitment, address, paymentId }: DepositPlace): MacFields {
  return { network, commitment, address, paymentId };
}
