import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { insertVersion, takeBytes } from '../../src/store/chain/sends.ts';
import { createTestApp, startTestGateway, type TestGateway } from '../gateway.ts';
import { openRelayScene, type RelayScene } from './relay-scene.ts';
import { payer } from './shop.ts';

/** More than any version waits before a better offer is made for its nonce. */
const LONG_MS = 30_000;

describe('the transaction of a payment, for its payer', () => {
  let scene: RelayScene;
  let gateway: TestGateway;
  let wallet: ReturnType<typeof payer>;
  before(async () => {
    scene = await openRelayScene({ depth: 3 });
    const sandbox = { chainId: scene.network, rpcUrl: '', apiKey: '', merchantId: '' };
    const clock = { nowMs: scene.nowMs };
    gateway = await startTestGateway({ databaseUrl: scene.databaseUrl, world: { clock }, sandbox });
    wallet = payer(gateway, { 'app-id': (await createTestApp(gateway)).id, 'client-id': 'test' });
  });
  after(async () => {
    await gateway?.stop();
    await scene?.close();
  });

  const transactionOf = async (id: string) => (await wallet.info(id)).json().transaction;
  const link = (hash: string | undefined) => ({
    chainId: scene.network,
    txId: hash,
    explorerUrl: `http://localhost:8080/sandbox/tx/${hash}`,
  });

  it('is shown once it was sent, follows a higher fee, and stays when it paid', async () => {
    const { id } = await scene.accept();
    assert.equal(await transactionOf(id), null);
    const node = await scene.newNode();
    await node.relay();
    const [first] = await scene.versions();
    assert.deepEqual(await transactionOf(id), link(first?.hash));

    scene.control.spikeGas(3n);
    scene.pass(LONG_MS);
    await node.relay();
    const [, second] = await scene.versions();
    assert.deepEqual(await transactionOf(id), link(second?.hash));

    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    assert.deepEqual(await transactionOf(id), link(second?.hash));
    await node.turn(3);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await transactionOf(id), link(second?.hash));
  });

  it('is the one the chain has, also when a better offer was made since', async () => {
    const { id } = await scene.accept();
    const node = await scene.newNode();
    await node.relay();
    const sent = (await scene.versions()).at(-1);
    const sender = { network: scene.network, signer: sent?.signer ?? '' };
    const better = { slot: sent?.nonce ?? 0, hash: `0x${'be'.repeat(32)}`, bytes: '0x' };
    await command(scene, async (tx) => {
      await insertVersion(
        tx,
        sender,
        { ...better, offer: { price: 10n ** 18n, terms: {} }, cost: 1n },
        new Date(scene.nowMs()),
      );
      await takeBytes(tx, better.hash, new Date(scene.nowMs() + 1));
    });
    assert.deepEqual(await transactionOf(id), link(better.hash));
    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    assert.deepEqual(await transactionOf(id), link(sent?.hash));
  });

  it('is not shown while it is stored and was never sent', async () => {
    const { id, commitment } = await scene.accept();
    const node = await scene.newNode();
    await node.relay();
    await scene.db.sql`
      update relay_versions v set broadcast_at = null from relay_items i
      where i.commitment = ${commitment} and v.signer = i.signer and v.slot = i.slot`;
    assert.equal(await transactionOf(id), null);
  });

  it("is the payer's own with coin, from when the chain has it", async () => {
    const { id, item, payer: buyer, pay } = await scene.offer();
    const event = {
      type: 'confirmed',
      buyer: { account: `${scene.network}:${buyer.address}`, name: 'Wallet', icon: null },
      token: { asset: item.asset, value: item.amount },
      isNative: true,
    } as const;
    await scene.movePayment({ paymentId: id, event, actor: 'test', evidence: {} });
    assert.equal(await transactionOf(id), null);
    const node = await scene.newNode();
    const hash = pay();
    await node.turn();
    assert.equal(await scene.status(id), 'processing');
    assert.deepEqual(await transactionOf(id), link(hash));
  });
});
