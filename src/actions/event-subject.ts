import type { ChainEvent } from '../chains/chain-reader.ts';
import type { Network } from '../chains/network.ts';
import type { PayerSide } from '../chains/payer-side.ts';
import { idBytes, subjectFromBytes } from '../domain/ids.ts';
import type { Item } from '../domain/item.ts';
import { openSeal, possibleIds, sealedIds } from '../domain/seal.ts';
import type { SubjectKeyDeps } from './subject-keys.ts';

export type SubjectEvent = Extract<ChainEvent, { subject: string }>;

type Terms = Omit<Item, 'subject' | 'seal'>;

/**
 * The id of the payment, payout, refund or return that an event names. Contracts of the first releases emit the id itself, so
 * anybody may name any id. Later contracts emit a seal: the id is undefined unless this gateway has sealed exactly these terms.
 */
export function subjectOfEvent(
  { subjectKeys }: SubjectKeyDeps,
  payerSide: Pick<PayerSide, 'network' | 'sealedTerms'>,
  event: SubjectEvent,
): string | undefined {
  const terms = termsOfEvent(payerSide.network, event);
  if (terms === undefined) return subjectFromBytes(Buffer.from(event.subject, 'hex'));
  return openSeal(subjectKeys, event.subject, payerSide.sealedTerms(terms));
}

/** All terms of an item, from its event. Undefined for events of the first releases, which lack some of the terms. */
export function termsOfEvent(network: Network, event: SubjectEvent): Terms | undefined {
  if (event.terms === undefined) return undefined;
  const { collector, asset, recipient, amount, fee } = event;
  const { feeAccount } = event.terms;
  const shared = { network: network.chainId, collector, recipient, feeAccount };
  if (event.type === 'swept') {
    const { askedAsset, asked, askedFee } = event.terms;
    return {
      ...shared,
      method: 'deposit',
      asset: askedAsset,
      payer: collector,
      amount: asked,
      fee: askedFee,
      deadlineS: 0,
    };
  }
  const { method, deadline } = event.terms;
  return { ...shared, method, asset, payer: event.payer, amount, fee, deadlineS: Number(deadline) };
}

/**
 * The ids that an event may name, from the first 16 bytes of its subject, in hex. The first releases emit the id, later ones
 * encrypt it. The result is a hint, which the caller must prove by other means.
 */
export function hintedIds({ subjectKeys }: SubjectKeyDeps, head: string): string[] {
  if (!/^[0-9a-f]{32}$/.test(head)) return [];
  return [subjectFromBytes(Buffer.from(head, 'hex')), ...possibleIds(subjectKeys, head)];
}

/** The first 16 bytes, in hex, of every subject that events of this id can have. Searches of `chain_events` use them. */
export function shownHeads({ subjectKeys }: SubjectKeyDeps, id: string): string[] {
  return [Buffer.from(idBytes(id)).toString('hex'), ...sealedIds(subjectKeys, id)];
}
