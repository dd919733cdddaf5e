import { Type } from 'typebox';
import type { ListedOption } from '../../actions/paying/list-options.ts';
import type { OptionAction } from '../../actions/paying/wallet-requests.ts';
import { AmountBody, viewToken } from './amount.ts';
import type { Origin } from './icons.ts';

export function viewOption(origin: Origin, { id, option, etaS, actions }: ListedOption) {
  const { item, account, expiresAtS } = option;
  return {
    id,
    account,
    amount: viewToken(origin, item.asset, item.amount.toString()),
    etaS,
    actions: [...actions],
    expiresAt: expiresAtS,
    collectData: null,
  };
}

const WalletRpcBody = Type.Object({
  chain_id: Type.String({ description: 'CAIP-2.', examples: ['eip155:8453'] }),
  method: Type.String({ examples: ['eth_signTypedData_v4'] }),
  params: Type.Array(Type.Unknown()),
});

/** A choice of two, told apart by `type`; the serialiser is left to write what the action made. */
const ActionBody = Type.Unsafe<OptionAction>({
  type: 'object',
  required: ['type', 'data'],
  properties: {
    type: { type: 'string', enum: ['walletRpc', 'build'] },
    data: {
      type: 'object',
      additionalProperties: true,
      description: 'With `walletRpc` the request to the wallet; with `build` the `data` to send to `fetch`.',
    },
  },
});

export const WalletRpcActionBody = Type.Object({
  type: Type.Literal('walletRpc'),
  data: WalletRpcBody,
});

export const OptionBody = Type.Object({
  id: Type.String({ description: 'Send it to `fetch` and `confirm`. Good for this payment only.' }),
  account: Type.String({ description: 'CAIP-10, as you spelled it.' }),
  amount: AmountBody,
  etaS: Type.Integer({ minimum: 0, description: 'Seconds from the confirmation to the end, roughly.' }),
  actions: Type.Array(ActionBody, { description: 'What the wallet has to do, in order.' }),
  expiresAt: Type.Integer({
    minimum: 0,
    description: 'Seconds since the epoch. A signature must be confirmed before; then ask for options again.',
  }),
  collectData: Type.Null({ description: 'Nothing is asked of the payer.' }),
});
