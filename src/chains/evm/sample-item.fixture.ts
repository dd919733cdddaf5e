import { newId } from '../../domain/ids.ts';
import type { Item, PayMethod } from '../../domain/item.ts';
import { COLLECTOR_ADDRESS } from './collector.ts';

const ASSETS: Readonly<Record<PayMethod, string>> = {
  'eip3009-vrs': 'eip155:31337/erc20:0x4e4707DE5c8431f59Fa45A904854551c692C04f9',
  'eip3009-bytes': 'eip155:31337/erc20:0x4eBF6fD78A6439A4b0C281D24Ce95d4C536CF40B',
  permit2: 'eip155:31337/erc20:0x868155088756156b8E18550A345d37ab5BFda311',
  native: 'eip155:31337/slip44:60',
};

let count = 0;

/** An item of a new payment on the sandbox network. */
export function sampleItem(method: PayMethod, fields: Partial<Item> & Pick<Item, 'payer'>): Item {
  count += 1;
  const random = new Uint8Array(10);
  new DataView(random.buffer).setUint32(6, count);
  return {
    network: 'eip155:31337',
    collector: COLLECTOR_ADDRESS,
    asset: ASSETS[method],
    method,
    subject: newId('pay_', Date.UTC(2026, 2, 1), random),
    seal: count.toString(16).padStart(64, '5'),
    recipient: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    feeAccount: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    amount: 12_340_000n,
    fee: 40_000n,
    deadlineS: 4_000_000_000,
    ...fields,
  };
}
