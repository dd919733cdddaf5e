import { type Static, Type } from 'typebox';
import type { ListedOption } from '../../actions/paying/list-options.ts';
import type { OptionAction } from '../../actions/paying/wallet-requests.ts';
import { decimalOf, type Rate } from '../../domain/rate.ts';
import { AmountBody, viewToken } from './amount.ts';
import type { Origin } from './icons.ts';

export function viewOption(origin: Origin, { id, option, etaS, actions, rate }: ListedOption) {
  const { item, account, expiresAtS } = option;
  return {
    id,
    account,
    amount: viewToken(origin, item.asset, item.amount.toString()),
    etaS,
    actions: [...actions],
    expiresAt: expiresAtS,
    rate: rate && viewRate(rate),
    collectData: null,
  };
}

function viewRate({ base, quote, value, readings }: Rate): Static<typeof RateBody> {
  return {
    base,
    quote,
    value: decimalOf(value),
    sources: [...new Set(readings.map(({ source }) => source))],
    at: Math.floor(Math.min(...readings.map(({ atMs }) => atMs)) / 1000),
  };
}

const WalletRpcBody = Type.Object(
  {
    chain_id: Type.String({ description: 'CAIP-2.', examples: ['eip155:8453'] }),
    method: Type.String({ examples: ['eth_signTypedData_v4'] }),
    params: Type.Array(Type.Unknown()),
  },
  { title: 'WalletRpc' },
);

/** The schema of an action: a union that is discriminated by `type`. The serialiser writes it unchanged. */
const ActionBody = Type.Unsafe<OptionAction>({
  title: 'OptionAction',
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

export const WalletRpcActionBody = Type.Object(
  {
    type: Type.Literal('walletRpc'),
    data: WalletRpcBody,
  },
  { title: 'WalletRpcAction' },
);

const RateBody = Type.Object(
  {
    base: Type.String({ examples: ['ETH'] }),
    quote: Type.String({ examples: ['EUR'] }),
    value: Type.String({
      description: 'The price of one `base` in `quote`, to eight digits.',
      examples: ['2272.7273'],
    }),
    sources: Type.Array(Type.String(), { description: 'The names of the sources that agreed on it.' }),
    at: Type.Integer({ minimum: 0, description: 'Seconds since the epoch: the oldest price it was made of.' }),
  },
  { title: 'ExchangeRate' },
);

export const OptionBody = Type.Object(
  {
    id: Type.String({ description: 'Send it to `fetch` and `confirm`. Valid for this payment only.' }),
    account: Type.String({ description: 'CAIP-10, in the given spelling.' }),
    amount: AmountBody,
    etaS: Type.Integer({ minimum: 0, description: 'Seconds from the confirmation to the end, roughly.' }),
    actions: Type.Array(ActionBody, { description: 'The actions of the wallet, in order.' }),
    expiresAt: Type.Integer({
      minimum: 0,
      description: 'Seconds since the epoch. A signature must be confirmed before; then ask for options again.',
    }),
    rate: Type.Unsafe<Static<typeof RateBody> | null>({
      ...RateBody,
      type: ['object', 'null'],
      description: 'The exchange rate in the amount; null if none was needed.',
    }),
    collectData: Type.Null({ description: 'No data of the payer is collected.' }),
  },
  { title: 'PaymentOption' },
);
