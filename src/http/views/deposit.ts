import { Type } from 'typebox';
import type { OpenedDeposit } from '../../actions/paying/open-deposit.ts';
import type { Chains } from '../../chains/chains.ts';
import { finalityOf } from '../../chains/finality.ts';
import type { RegistryDeps } from '../../chains/registry.ts';
import { transferUri } from '../../domain/deposit.ts';
import type { DepositProgress } from '../../store/chain/deposit-progress.ts';
import { AmountBody, viewToken } from './amount.ts';
import type { Origin } from './icons.ts';

export function viewDeposit(
  deps: RegistryDeps & { readonly config: Origin; readonly chains: Chains },
  { network, address, asset, item }: OpenedDeposit,
  { arrived, confirmed }: DepositProgress,
) {
  const { config, chains } = deps;
  const [, chainNumber = ''] = network.split(':');
  const token = asset.slice(asset.lastIndexOf(':') + 1);
  const asked = BigInt(item.amount);
  const connected = chains.find(network);
  const confirmations = connected === undefined ? 1 : finalityOf(deps, connected.chain.network, item).depth;
  return {
    address: `${network}:${address}`,
    plainAddress: address,
    amount: viewToken(config, asset, item.amount),
    uri: transferUri({ token, chainNumber, address, amount: arrived < asked ? asked - arrived : asked }),
    expiresAt: Math.floor(item.deadline.getTime() / 1000),
    confirmations,
    arrived: viewToken(config, asset, arrived.toString()),
    confirmed: Math.min(confirmed, confirmations),
  };
}

export const DepositBody = Type.Object(
  {
    address: Type.String({
      description: 'CAIP-10. The account on that network that takes the amount, in one transfer or in several.',
      examples: ['eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    }),
    plainAddress: Type.String({
      description: 'The same without its network, as wallets and exchanges take it. Send on that network only.',
      examples: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    }),
    amount: AmountBody,
    uri: Type.String({
      description:
        'The transfer as a link for wallets (EIP-681), to be shown as a QR code. When a part has arrived, it asks for the rest.',
    }),
    expiresAt: Type.Integer({
      minimum: 0,
      description: 'Seconds since the epoch. Money in a block after it comes late: the payment then ends without it.',
    }),
    confirmations: Type.Integer({
      minimum: 1,
      description:
        'Blocks until the money is final, that of the transfer included. Large amounts may also wait for a block that the network calls final.',
    }),
    arrived: {
      ...AmountBody,
      description:
        'The part that has arrived in time, in blocks of any depth. Only the status of the payment proves it.',
    },
    confirmed: Type.Integer({
      minimum: 0,
      description: 'Blocks since the whole amount has arrived, at most `confirmations`. 0 while some of it is missing.',
    }),
  },
  { title: 'DepositAddress' },
);
