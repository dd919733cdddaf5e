import { addressKey } from '../../domain/addresses/families.ts';
import { hasPassed } from '../../domain/has-passed.ts';
import type { Share } from '../../store/chain/due-items.ts';
import { readAccountStates } from '../account-states.ts';
import type { RelayDeps, Relayer } from './relayer.ts';

const READ_EVERY_MS = 1_000;

/** The items that a relayer sends at present. */
export interface Duty {
  /** True if the relayer sends only its own native coin, because it is the intermediate account, or retired. */
  readonly isCoinOnly: boolean;
  readonly share: Share;
}

/**
 * The duty of a relayer. A retired relayer takes no new item. It still maintains its stored transactions, and sends its own native coin
 * if unexpected coin on its account is returned to the sender. The other relayers share all other items. A retirement is in force on
 * every node within a second.
 */
export async function dutyOf(deps: RelayDeps, { id, peers, isCoinOnly = false, memory }: Relayer): Promise<Duty> {
  if (isCoinOnly) return { isCoinOnly, share: WHOLE };
  const nowMs = deps.world.clock.nowMs();
  if (memory.retired === undefined || hasPassed(memory.retired.readAtMs, nowMs, READ_EVERY_MS)) {
    const states = await readAccountStates(deps.db.sql, deps, id.network);
    const retired = states.filter(({ kind, state }) => kind === 'relayer' && state === 'retired');
    const addresses = new Set(retired.map(({ address }) => addressKey(id.network, address)));
    memory.retired = { addresses, readAtMs: nowMs };
  }
  const { addresses } = memory.retired;
  const active = peers.filter((peer) => !addresses.has(addressKey(id.network, peer)));
  const index = active.indexOf(id.signer);
  return index < 0 ? { isCoinOnly: true, share: WHOLE } : { isCoinOnly: false, share: { index, of: active.length } };
}

const WHOLE: Share = { index: 0, of: 1 };
