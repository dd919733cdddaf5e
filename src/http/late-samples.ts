import type { Sample } from './sample.ts';
import type { usdc } from './sample-story.ts';

interface Story {
  readonly paymentId: string;
  readonly merchantId: string;
  readonly payer: string;
  readonly asset: string;
  readonly amount: typeof usdc;
}

/** Examples of late money: a transfer from an exchange that arrived after the payment had expired. */
export function lateSamples({ paymentId, merchantId, payer, asset, amount }: Story): Readonly<Record<string, Sample>> {
  const [network = ''] = asset.split('/');
  const UNCLAIMED = {
    id: 'stry_5VKHRZ5Q8MB2N4P6R8T0V2X4Z6',
    paymentId,
    merchantId,
    reason: 'late',
    status: 'unclaimed',
    network,
    asset,
    amount: amount('10000000'),
    fee: amount('100000'),
    sender: null,
    txId: null,
    destination: null,
    returnTxId: null,
    problem: null,
    createdAt: '2026-02-18T09:41:07.250Z',
    requestedAt: null,
    waitingFor: null,
  };
  const requestedAt = '2026-02-18T11:20:00.000Z';
  const until = '2026-02-19T11:20:00.000Z';
  const REQUESTED = {
    ...UNCLAIMED,
    status: 'requested',
    destination: `${network}:${payer}`,
    requestedAt,
    waitingFor: { what: 'cooling_off', asset, amount: UNCLAIMED.amount, since: requestedAt, until },
  };
  const params = { id: UNCLAIMED.id };
  return {
    'get /v1/late-money': { answer: { lateMoney: [UNCLAIMED], nextCursor: null } },
    'get /v1/late-money/{id}': { params, answer: UNCLAIMED },
    'post /v1/late-money/{id}/return': { params, body: { destination: REQUESTED.destination }, answer: REQUESTED },
  };
}
