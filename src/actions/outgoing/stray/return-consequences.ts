import { amountText } from '../../../chains/amount-text.ts';
import { floatReturnEntry, strayCoveredEntry } from '../../../domain/books.ts';
import { changeFloats } from '../../../store/money/floats.ts';
import { deleteSpends } from '../../../store/money/lots.ts';
import type { Outgoing } from '../../../store/money/outgoing.ts';
import { moveStray, type Stray } from '../../../store/money/strays.ts';
import { deleteAlert, upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import type { ArrivalProof, Consequences } from '../consequences.ts';
import { bookedCover, coverOfStray, partsOf } from './cover-stray.ts';
import { endReturn, noteReturn } from './note-return.ts';
import { lockStrayOfPayment } from './return-stray.ts';
import { aboutStray, strayReturnEntries } from './stray-entries.ts';

/** The consequences for floats and unexpected money that are returned. */
export const RETURN: Consequences = {
  async paid(tx, outgoing, proof, at) {
    const stray = await strayOf(tx, outgoing);
    if (stray !== undefined) {
      await moveStray(tx, { id: stray.id, from: 'returning', to: 'returned', at });
      for (const name of ['stray_money', 'return_failed'] as const) await deleteAlert(tx, { name, subject: stray.id });
      // The alert about a late payment has the payment as its subject.
      if (stray.paymentId !== null) await deleteAlert(tx, { name: 'paid_after_end', subject: stray.paymentId });
      const { recipient } = outgoing;
      await noteReturn(tx, stray, { status: 'returned', recipient, actor: 'watcher', evidence: { ...proof } }, at);
    }
    await recordEntries(tx, returnEntries('done', outgoing, stray, BigInt(outgoing.amount), proof), at);
  },
  async failed(tx, outgoing, { problem, evidence }, at) {
    const { id, network, asset, floatOwner } = outgoing;
    const units = BigInt(outgoing.amount);
    const stray = await strayOf(tx, outgoing);
    await recordEntries(tx, returnEntries('failed', outgoing, stray, units), at);
    if (floatOwner !== null) {
      const change = { owner: floatOwner, network, asset, units, kind: 'restored', subject: id } as const;
      await changeFloats(tx, [change], at);
    }
    if (stray !== undefined) {
      const end = { problem, actor: 'watcher', evidence: { problem, ...evidence } };
      if (stray.state === 'returning') await endReturn(tx, stray, end, at);
      await uncover(tx, stray, at);
    }
    const message = `${amountText(asset, units)}, sent back to ${outgoing.recipient}, did not arrive (${problem}). The money is still on its account.`;
    await upsertAlert(tx, { name: 'return_failed', subject: id, message, lastSeen: at });
  },
  async undone(tx, outgoing, at) {
    const stray = await strayOf(tx, outgoing);
    if (stray !== undefined) {
      await moveStray(tx, { id: stray.id, from: 'returned', to: 'returning', at });
      await noteReturn(tx, stray, { status: 'returning', recipient: outgoing.recipient, actor: 'watcher' }, at);
    }
    await recordEntries(tx, returnEntries('done', outgoing, stray, -BigInt(outgoing.amount)), at);
  },
};

/** Undefined for a float. */
async function strayOf(tx: Tx, { id, floatOwner }: Outgoing): Promise<Stray | undefined> {
  if (floatOwner !== null) return undefined;
  const stray = await lockStrayOfPayment(tx, id);
  if (stray === undefined) throw new Error('The returned money is neither a stray nor a float.');
  return stray;
}

/** Gives the parts of the cover back to the lot and to the floats. */
async function uncover(tx: Tx, stray: Stray, at: Date): Promise<void> {
  const { id, network, asset } = stray;
  const cover = coverOfStray(stray, await deleteSpends(tx, id));
  const added = bookedCover(stray, cover);
  const change = { network, asset, kind: 'restored', subject: id } as const;
  await changeFloats(
    tx,
    partsOf(cover).map((part) => ({ ...change, ...part })),
    at,
  );
  if (added.payable + cover.merchant + cover.operator === 0n) return;
  const about = { ...aboutStray(stray), merchantId: cover.merchantId };
  const back = {
    payable: -added.payable,
    merchantFloat: -added.merchantFloat,
    operatorFloat: -added.operatorFloat,
  };
  await recordEntries(tx, [strayCoveredEntry(about, back)], at);
}

function returnEntries(
  step: 'done' | 'failed',
  { id, network, asset, floatOwner, merchantId }: Outgoing,
  stray: Stray | undefined,
  units: bigint,
  proof?: ArrivalProof,
) {
  const about = { network, asset, subject: id, reference: id, merchantId };
  if (floatOwner !== null) return [floatReturnEntry(step, about, { owner: floatOwner, units, proof })];
  return stray === undefined ? [] : strayReturnEntries(step, stray, { units, proof });
}
