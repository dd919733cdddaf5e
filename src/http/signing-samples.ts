import type { Sample } from './sample.ts';

interface SigningStory {
  readonly refund: { readonly refundId: string; readonly amount: object; readonly destination: string };
  readonly merchant: string;
  /** The request to the wallet of the account that received the payment. */
  readonly action: { readonly chain_id: string; readonly params: readonly string[] };
  readonly signature: string;
}

/** Examples of a refund that the shop's own account signs for. */
export function signingSamples(story: SigningStory): Readonly<Record<string, Sample>> {
  const { refund, merchant, action, signature } = story;
  const { refundId, amount, destination } = refund;
  const params = { id: `${refundId}.vb0Hk1rUfXqYw2sT8pLmNg` };
  const waiting = {
    refundId,
    status: 'awaiting_funds',
    amount,
    fee: null,
    isFeeReturned: false,
    destination,
    account: `${action.chain_id}:${action.params[0]}`,
    merchant: { name: merchant, iconUrl: null },
    waitingFor: 'merchant_signature',
    transaction: null,
    attempt: null,
  };
  return {
    'get /v1/gateway/refund/{id}': { params, answer: waiting },
    'post /v1/gateway/refund/{id}/actions': {
      params,
      answer: { actions: [{ type: 'walletRpc', data: action }], expiresAt: 1_771_409_112 },
    },
    'post /v1/gateway/refund/{id}/confirm': {
      params,
      body: { result: signature },
      answer: { ...waiting, status: 'sending', waitingFor: 'network' },
    },
  };
}
