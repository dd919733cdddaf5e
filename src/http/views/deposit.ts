import { Type } from 'typebox';
import type { OpenedDeposit } from '../../actions/paying/open-deposit.ts';
import { findNetwork } from '../../chains/networks.ts';
import { transferUri } from '../../domain/deposit.ts';
import { AmountBody, viewToken } from './amount.ts';
import type { Origin } from './icons.ts';

/** A deposit address, as the payer needs it. */
export function viewDeposit(origin: Origin, { network, address, asset, item }: OpenedDeposit) {
  const [, chainNumber = ''] = network.split(':');
  const token = asset.slice(asset.lastIndexOf(':') + 1);
  return {
    address: `${network}:${address}`,
    amount: viewToken(origin, asset, item.amount),
    uri: transferUri({ token, chainNumber, address, amount: BigInt(item.amount) }),
    expiresAt: Math.floor(item.deadline.getTime() / 1000),
    confirmations: findNetwork(network)?.finality?.depth ?? 1,
  };
}

export const DepositBody = Type.Object({
  address: Type.String({
    description: 'CAIP-10. The account on that network that takes the amount, in one transfer or in several.',
    examples: ['eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  }),
  amount: AmountBody,
  uri: Type.String({ description: 'The transfer as a link for wallets (EIP-681), to be shown as a QR code.' }),
  expiresAt: Type.Integer({
    minimum: 0,
    description: 'Seconds since the epoch. Money in a block after it comes late: the payment then ends without it.',
  }),
  confirmations: Type.Integer({
    minimum: 1,
    description: 'Blocks until a transfer is final, that of the transfer included. Large amounts may need more.',
  }),
});
