import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { attemptEntries } from '../../src/actions/oversight/attempt-entries.ts';
import { readHistory } from '../../src/actions/oversight/history.ts';
import { eraseAccount } from '../../src/actions/paying/erase-payer.ts';
import { REGISTRY } from '../registry.ts';
import { openPayingShop, walletOn } from './paying-shop.ts';
import { openRefundScene, type RefundScene } from './refund-scene.ts';
import { openShop } from './shop.ts';

/** Its contract has one address on four networks. */
const AUSD = '0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a';

describe('a token whose contract has one address on several networks', () => {
  it('has one deposit address on each of them, for payers and for programs', async (t) => {
    const networks = ['eip155:1', 'eip155:42161', 'eip155:8453'];
    const config = { depositMinimum: { everywhere: undefined, on: new Map(networks.map((network) => [network, 0n])) } };
    const paying = await openPayingShop({ config, chainIds: networks });
    t.after(() => paying.gateway.stop());
    const shop = await openShop(paying.gateway, { mode: 'live' });
    const wallet = walletOn(paying.gateway, { 'api-key': shop.secret });
    const tokens = networks.map((network) => `${network}/erc20:${AUSD}`);
    for (const isFirst of ['the address', 'the program']) {
      const id = await paying.created({}, shop);
      const agent = async () => {
        const answer = await paying.gateway.call({ url: `/x402/${id}` });
        assert.equal(answer.statusCode, 402, answer.body);
        const shown: { network: string; asset: string; payTo: string }[] = answer.json().accepts;
        return shown.filter(({ asset }) => asset === AUSD).map(({ network, payTo }) => `${network}:${payTo}`);
      };
      const shownFirst = isFirst === 'the program' ? await agent() : [];
      const addresses: string[] = [];
      for (const asset of [...tokens, ...tokens]) {
        const answer = await wallet.post(id, 'address', { asset });
        assert.equal(answer.statusCode, 200, answer.body);
        addresses.push(answer.json().address);
      }
      assert.deepEqual(addresses.slice(0, 3), addresses.slice(3), 'the same answer again');
      assert.equal(new Set(addresses.map((address) => address.split(':').at(-1))).size, 1, 'one address');
      assert.deepEqual(await agent(), addresses.slice(0, 3));
      if (isFirst === 'the program') assert.deepEqual(shownFirst, addresses.slice(0, 3));
    }
  });
});

/** Both networks have one commitment then, and an item each: the key of the item is not the commitment. */
describe('a deposit address that another network has, too', () => {
  let scene: RefundScene;
  afterEach(() => scene.close());

  it('has its sweeps in the timeline, on the network where they were', async () => {
    scene = await openRefundScene({ watching: { sweepFrom: () => 0n } });
    const node = await scene.newNode();
    const { id, send } = await scene.deposit({ isSecond: true });
    send(1_000n);
    await scene.live(node, 6);
    const entries = attemptEntries(await readHistory(scene.db.sql, await scene.payment(id), 100), REGISTRY);
    const swept = entries.filter(({ what }) => what === 'chain.swept');
    assert.deepEqual(
      swept.map(({ evidence }) => evidence?.network),
      [scene.network],
    );
  });

  it('forgets the name of a payer who has sent money to it', async () => {
    scene = await openRefundScene({});
    const node = await scene.newNode();
    const { id, sender, send } = await scene.deposit({ isSecond: true });
    const name = () => command(scene, (tx) => tx`update items set buyer_name = 'Fox' where subject = ${id}`);
    const named = () => scene.db.sql`
      select purpose from items where subject = ${id} and network = ${scene.network} and buyer_name = 'Fox'`;
    await name();
    send(1_000n);
    await scene.live(node, 3);
    assert.deepEqual(await named(), [{ purpose: 'payment' }], 'its sweep has no name');
    // Older versions have copied the name to the sweep.
    await name();
    assert.equal((await named()).length, 2);
    await eraseAccount(scene, { payer: { network: scene.network, address: sender }, actor: 'operator' });
    assert.deepEqual(await named(), []);
  });
});
