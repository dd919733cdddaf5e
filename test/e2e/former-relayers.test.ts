import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createWorkCheck } from '../../src/actions/oversight/check-work.ts';
import { listRelayers } from '../../src/actions/relay/list-relayers.ts';
import { signerFromKey } from '../chains/signer.ts';
import { coinOf } from '../registry.ts';
import { openRelayScene, type RelayScene, type TestNode } from './relay-scene.ts';

const MINUTE_MS = 60_000;
const NEW_RELAYER = signerFromKey(`0x${'8'.repeat(64)}`);

describe('relayers that were replaced while a transaction was stored and not mined', () => {
  let scene: RelayScene;
  let old: TestNode;
  beforeEach(async () => {
    scene = await openRelayScene({ witnesses: 2 });
    scene.control.setBalance(NEW_RELAYER.address, coinOf(scene.network), 10n ** 21n);
    old = await scene.newNode();
  });
  afterEach(() => scene.close());

  const former = () => scene.signers[0]?.address ?? '';
  const listed = async () =>
    (await listRelayers({ chains: scene.chains, db: scene.db, clock: scene.world.clock })).map(
      ({ address, isFormer, inFlight }) => ({ address, isFormer, inFlight }),
    );
  const goneAlerts = async () => (await scene.alerts()).filter((alert) => alert.startsWith('relayer_gone'));

  /** A payment whose transaction is stored, and was lost on its way. */
  async function stranded() {
    const payment = await scene.accept();
    scene.control.broadcasts('lost');
    await old.relay();
    assert.equal((await scene.item(payment.commitment))?.state, 'sent');
    return payment;
  }

  it('have their stored bytes broadcast again, without their key', async () => {
    const { id } = await stranded();
    const node = await scene.newNode([NEW_RELAYER]);
    scene.pass(MINUTE_MS);
    await node.turn(3);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await listed(), [{ address: NEW_RELAYER.address, isFormer: false, inFlight: 0 }]);
  });

  it('have their payments sent by others when their transaction cannot be mined, and are listed, with an alert', async () => {
    const { id, item } = await stranded();
    scene.control.setBalance(former(), coinOf(scene.network), 0n);
    const node = await scene.newNode([NEW_RELAYER]);
    const check = createWorkCheck(scene);
    await check();
    assert.deepEqual(await goneAlerts(), [`relayer_gone ${scene.network}:${former()}`]);
    scene.pass(MINUTE_MS);
    await node.turn(2);
    assert.equal(await scene.status(id), 'processing', 'it may still be mined');
    scene.pass(3 * MINUTE_MS);
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal(scene.control.balanceOf(item.recipient, item.asset), item.amount - item.fee, 'paid once');
    assert.deepEqual(await listed(), [
      { address: NEW_RELAYER.address, isFormer: false, inFlight: 0 },
      { address: former(), isFormer: true, inFlight: 1 },
    ]);
    await check();
    assert.deepEqual(await goneAlerts(), [], 'nothing waits for it any more');
  });
});
