import { ChainUnavailableError } from '../../chains/chain-errors.ts';
import { takeBytes } from '../../store/chain/sends.ts';
import { command } from '../command.ts';
import { alarmSubject } from './check-relayer.ts';
import type { RelayDeps, Relayer } from './relayer.ts';

/**
 * Broadcasts the stored bytes of a version. The answer does not decide about the payments in it: the transaction may have spread
 * despite an error, and the relayer broadcasts it again until its slot is used. `isRepeated` is true if the slot was broadcast
 * before; then every endpoint gets the bytes.
 */
export async function broadcastStored(
  deps: RelayDeps,
  relayer: Relayer,
  { slot, hash, isRepeated }: { slot: number; hash: string; isRepeated: boolean },
): Promise<void> {
  const { chain, id, memory, alarms } = relayer;
  const bytes = await command(deps, (tx, now) => takeBytes(tx, hash, now));
  memory.broadcastAtMs.set(slot, deps.world.clock.nowMs());
  if (bytes === undefined) {
    // The bytes were pruned a moment ago. The next round signs the transaction anew.
    deps.log.warn({ ...id, slot, hash }, 'the bytes of an open transaction were pruned: it is signed again');
    return;
  }
  deps.world.crashPoint?.('relay.taken');
  try {
    const outcome = await chain.sender.broadcast(bytes, { isRepeated });
    deps.world.crashPoint?.('relay.broadcast');
    deps.log.debug({ ...id, slot, hash, outcome }, 'broadcast');
    if (outcome === 'underpriced') memory.outbid.add(slot);
    // The transaction of the slot before this one has not arrived yet. Both are broadcast again in the next round.
    if (outcome === 'slot_early') memory.broadcastAtMs.clear();
    if (outcome === 'short_balance') await reportOutOfFunds(relayer);
    else await alarms.outOfFunds.set(alarmSubject(id), undefined);
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    deps.log.warn({ ...id, slot, hash, err: error }, 'no answer to a broadcast: the transaction may have spread');
  }
}

export async function reportOutOfFunds({ id, alarms }: Relayer): Promise<void> {
  await alarms.outOfFunds.set(alarmSubject(id), 'The relayer cannot pay for its transactions. Send coin to it.');
}
