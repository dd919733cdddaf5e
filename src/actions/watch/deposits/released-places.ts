import type { MacFields } from '../../../domain/row-mac.ts';
import {
  type DepositPlace,
  listReleasedPlaces,
  lockReleasedPlaces,
  type ReleasedPlace,
  setReleaseMacs,
} from '../../../store/chain/deposit-places.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import { type Pages, renewMacs } from '../../renew-macs.ts';
import { macsOf, type RowKeyDeps } from '../../row-keys.ts';

/**
 * The release of an address by an operator: money of senders on the screening list stops no sweep of it any more. It carries a MAC
 * under a key outside the database.
 */
export const { macOf: releaseMac, isOwn: isOwnRelease } = macsOf('deposit_places', fieldsOf);

/** The places of a payment that an operator has released. Releases that the gateway did not write have no effect. */
export async function ownReleases(deps: RowKeyDeps, db: Reader, paymentId: string): Promise<readonly ReleasedPlace[]> {
  return (await listReleasedPlaces(db, paymentId)).filter((place) => isOwnRelease(deps, place));
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
