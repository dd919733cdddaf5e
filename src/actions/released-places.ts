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
 * The functions that make and check the MAC of a released deposit address, under a key outside the database. An operator releases an
 * address, so that money from senders on the screening list no longer stops its sweeps.
 */
export const { macOf: releaseMac, isOwn: isOwnRelease } = macsOf('deposit_places', fieldsOf);

/** The deposit addresses of a payment that an operator has released. Releases that the gateway did not write have no effect. */
async function ownReleases(deps: RowKeyDeps, db: Reader, paymentId: string): Promise<readonly ReleasedPlace[]> {
  return (await listReleasedPlaces(db, paymentId)).filter((place) => isOwnRelease(deps, place));
}

/**
 * The ids of the lots from senders on the screening list, except lots at addresses that an operator has released. These lots wait for an
 * operator unless they are dust.
 */
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
