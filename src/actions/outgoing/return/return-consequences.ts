import { amountText } from '../../../chains/amount-text.ts';
import { floatReturnEntry, unexpectedCoveredEntry } from '../../../domain/books.ts';
import { changeFloats } from '../../../store/money/floats.ts';
import { deleteSpends } from '../../../store/money/lots.ts';
import type { Outgoing } from '../../../store/money/outgoing.ts';
import { moveUnexpected, type UnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import { deleteAlert, upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import type { ArrivalProof, Consequences } from '../settle/consequences.ts';
import { bookedCover, coverOfReturn, partsOf } from './cover-return.ts';
import { endReturn, noteReturn } from './note-return.ts';
import { lockUnexpectedOfPayment } from './return-unexpected.ts';
import { endStrayAlert } from './stray-alert.ts';
import { aboutUnexpected, unexpectedReturnEntries } from './unexpected-entries.ts';

/** The consequences for floats and unexpected money that are returned. */
export const RETURN: Consequences = {
  async paid(tx, outgoing, proof, at) {
    const unexpected = await unexpectedOf(tx, outgoing);
    if (unexpected !== undefined) {
      await moveUnexpected(tx, { id: unexpected.id, from: 'returning', to: 'returned', at });
      await endStrayAlert(tx, unexpected);
      await deleteAlert(tx, { name: 'return_failed', subject: unexpected.id });
      // The alert about a late payment has the payment as its subject.
      if (unexpected.paymentId !== null)
        await deleteAlert(tx, { name: 'paid_after_end', subject: unexpected.paymentId });
      const { recipient } = outgoing;
      await noteReturn(tx, unexpected, { status: 'returned', recipient, actor: 'watcher', evidence: { ...proof } }, at);
    }
    await recordEntries(tx, returnEntries('done', outgoing, unexpected, BigInt(outgoing.amount), proof), at);
  },
  async failed(tx, deps, outgoing, { problem, evidence }, at) {
    const { id, network, asset, floatOwner } = outgoing;
    const units = BigInt(outgoing.amount);
    const unexpected = await unexpectedOf(tx, outgoing);
    await recordEntries(tx, returnEntries('failed', outgoing, unexpected, units), at);
    if (floatOwner !== null) {
      const change = { owner: floatOwner, network, asset, units, kind: 'restored', subject: id } as const;
      await changeFloats(tx, [change], at);
    }
    if (unexpected !== undefined) {
      const end = { problem, actor: 'watcher', evidence: { problem, ...evidence } };
      if (unexpected.state === 'returning') await endReturn(tx, unexpected, end, at);
      await uncover(tx, unexpected, at);
    }
    const message = `${amountText(deps.registry, asset, units)}, sent back to ${outgoing.recipient}, did not arrive (${problem}). The money is still on its account.`;
    await upsertAlert(tx, { name: 'return_failed', subject: id, message, lastSeen: at });
  },
  async undone(tx, _deps, outgoing, at) {
    const unexpected = await unexpectedOf(tx, outgoing);
    if (unexpected !== undefined) {
      await moveUnexpected(tx, { id: unexpected.id, from: 'returned', to: 'returning', at });
      await noteReturn(tx, unexpected, { status: 'returning', recipient: outgoing.recipient, actor: 'watcher' }, at);
    }
    await recordEntries(tx, returnEntries('done', outgoing, unexpected, -BigInt(outgoing.amount)), at);
  },
};

/** The unexpected money that the transfer returns, locked. Undefined if the transfer returns a float. */
async function unexpectedOf(tx: Tx, { id, floatOwner }: Outgoing): Promise<UnexpectedMoney | undefined> {
  if (floatOwner !== null) return undefined;
  const unexpected = await lockUnexpectedOfPayment(tx, id);
  if (unexpected === undefined) throw new Error('The returned money is neither unexpected money nor a float.');
  return unexpected;
}

/** Gives the money that covered a return back to its lot and to the floats. */
async function uncover(tx: Tx, unexpected: UnexpectedMoney, at: Date): Promise<void> {
  const { id, network, asset } = unexpected;
  const cover = coverOfReturn(unexpected, await deleteSpends(tx, id));
  const added = bookedCover(unexpected, cover);
  const change = { network, asset, kind: 'restored', subject: id } as const;
  await changeFloats(
    tx,
    partsOf(cover).map((part) => ({ ...change, ...part })),
    at,
  );
  if (added.payable + cover.merchant + cover.operator === 0n) return;
  const about = { ...aboutUnexpected(unexpected), merchantId: cover.merchantId };
  const back = {
    payable: -added.payable,
    merchantFloat: -added.merchantFloat,
    operatorFloat: -added.operatorFloat,
  };
  await recordEntries(tx, [unexpectedCoveredEntry(about, back)], at);
}

function returnEntries(
  step: 'done' | 'failed',
  { id, network, asset, floatOwner, merchantId }: Outgoing,
  unexpected: UnexpectedMoney | undefined,
  units: bigint,
  proof?: ArrivalProof,
) {
  const about = { network, asset, subject: id, reference: id, merchantId };
  if (floatOwner !== null) return [floatReturnEntry(step, about, { owner: floatOwner, units, proof })];
  return unexpected === undefined ? [] : unexpectedReturnEntries(step, unexpected, { units, proof });
}
