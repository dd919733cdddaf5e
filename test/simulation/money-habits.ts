import type { Item } from '../../src/domain/item.ts';
import { findAsset } from '../registry.ts';
import { addressesOf, send } from './depositing.ts';
import { controlOn, networkNamed, networkOf } from './networks.ts';
import { request } from './requests.ts';
import { rest, type Shopping } from './shopping.ts';
import { Violation } from './stage.ts';

/** Payers who send once more to an address after their payment has ended: by success, expiry or cancellation. */
export async function sendAfterEnd(shopping: Shopping, paymentId: string): Promise<void> {
  const { random } = shopping;
  const addresses = addressesOf(shopping.stage, paymentId);
  if (addresses.length === 0) return;
  const address = random.pick(addresses);
  await rest(shopping, random.below(20_000));
  const units = random.chance(0.5) ? address.asked : (address.asked * BigInt(random.between(1, 99))) / 100n;
  shopping.stage.scheduler.note(`${shopping.by.name}: sends to an address after the end of ${paymentId}`);
  if (random.chance(0.3)) await payThroughCollector(shopping, address.asset, address.address, units);
  else send(shopping, address, address.asset, units);
}

/** Another shop with the same contracts pays a refund, and its payer has named our deposit address. */
async function payThroughCollector(
  { stage, random, payer, by }: Shopping,
  asset: string,
  recipient: string,
  amount: bigint,
): Promise<void> {
  const method = findAsset(asset)?.pay?.method;
  const { chain } = networkNamed(stage, networkOf(asset)).connected;
  const collector = chain.payerSide.collector();
  if (collector === undefined || amount <= 0n || (method !== 'eip3009-vrs' && method !== 'eip3009-bytes')) return;
  const item: Item = {
    network: networkOf(asset),
    collector,
    asset,
    method,
    subject: '',
    seal: Buffer.from(random.bytes(32)).toString('hex'),
    payer: payer.address,
    recipient,
    feeAccount: random.pick(stage.payers).address,
    amount,
    fee: 0n,
    deadlineS: Math.floor(stage.scheduler.nowMs() / 1000) + 600,
  };
  const action = chain.payerSide.walletActions(item, amount).at(-1);
  const signature = await stage.driver.busy(payer.signTypedData(String(action?.params[1])));
  const commitment = chain.payerSide.commitmentOf(item);
  stage.scheduler.note(`${by.name}: pays ${amount} of ${asset} to an address through the Collector`);
  controlOn(stage, asset).relayAsStranger([{ item, commitment, signature, hasCode: false }]);
}

/** A shop names a deposit address as the destination of a refund: of the same payment, or of another one. */
export async function refundIntoAddress(shopping: Shopping, paymentId: string): Promise<void> {
  const { stage, by, random, headers } = shopping;
  const addresses = [...stage.addresses.values()].map((terms) => terms.split(' ')[0] ?? '');
  if (addresses.length === 0) return;
  const payload = { paymentId, destination: random.pick(addresses) };
  const answer = await request(stage, by, random, { method: 'POST', url: '/v1/refunds', headers, payload });
  if (answer?.status === 200) {
    throw new Violation('money goes to its party', `a refund of ${paymentId} goes to ${payload.destination}`);
  }
}
