import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { raiseAlert } from '../../src/actions/alerts.ts';
import { createWorkCheck } from '../../src/actions/oversight/check-work.ts';
import type { Chains } from '../../src/chains/chains.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { startTestGateway } from '../gateway.ts';
import { openRefundScene } from './refund-scene.ts';
import { openRelayScene, type RelayScene } from './relay-scene.ts';

const NO_CHAINS: Chains = { find: () => undefined, list: () => [] };
const MINUTE_MS = 60_000;

describe('a network that was taken out of the settings', () => {
  let scene: RelayScene;
  beforeEach(async () => {
    scene = await openRelayScene();
  });
  const others: { close(): Promise<void> }[] = [];
  afterEach(() => Promise.all([scene, ...others.splice(0)].map((each) => each.close())));

  const isMissing = async () => (await scene.alerts()).includes(`network_missing ${scene.network}`);

  it('raises an alert and is named by /ready while it has open work, and no longer', async () => {
    const node = await scene.newNode();
    await node.turn();
    const { id } = await scene.accept();
    const check = createWorkCheck({ ...scene, chains: NO_CHAINS });
    await check();
    assert.ok(await isMissing());
    const gateway = await startTestGateway({ databaseUrl: scene.databaseUrl });
    const remarks = async (): Promise<readonly string[]> => (await gateway.call({ url: '/ready' })).json().remarks;
    assert.match(
      (await remarks()).join(),
      /Till Sandbox \(eip155:31337\) is not configured, and has open work: payments/,
    );
    // It is put back until all has ended.
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
    scene.pass(2 * MINUTE_MS);
    await check();
    assert.ok(!(await isMissing()));
    assert.ok(!(await remarks()).join().includes('is not configured, and has open work'));
    await gateway.stop();
  });

  it('is named while it has money of merchants, or refunds of it wait', async () => {
    const refunds = await openRefundScene();
    others.push(refunds);
    const node = await refunds.newNode();
    const check = createWorkCheck({ ...refunds, chains: NO_CHAINS });
    const named = async () => {
      await check();
      return (await refunds.alertText('network_missing')) ?? '';
    };
    const { id } = await refunds.paid(node);
    await refunds.live(node);
    assert.equal(await named(), '');
    await refunds.request(id);
    assert.match(await named(), /open work: refunds or returns that wait\./);
    await refunds.fill(node, OPERATOR_FLOAT, 1_000n);
    await refunds.fill(node, refunds.merchantId, 1_000n);
    await refunds.live(node, 4);
    assert.equal((await refunds.refund(id)).state, 'refunded');
    assert.equal(await named(), '');
    await refunds.paid(node, { isHeld: true });
    await refunds.live(node);
    assert.match(await named(), /open work: money of merchants\./);
    await refunds.register(refunds.payers.newAccount());
    await refunds.live(node, 4);
    assert.equal(await named(), '');
  });

  it('has its alerts, and those of its relayers, cleared when nobody sees them any more', async () => {
    const former = `${scene.network}:0x00000000000000000000000000000000000000f0`;
    const here = `${scene.network}:${scene.signers[0]?.address}`;
    for (const [name, subject] of [
      ['relayer_balance_low', former],
      ['relayer_balance_low', here],
      ['endpoints_missing', 'eip155:84532'],
      ['work_unled', `relay ${former.replace(':0x', ' 0x')}`],
      ['stray_money', former],
    ] as const) {
      await raiseAlert(scene, { name, subject, message: 'As before.' });
    }
    const check = createWorkCheck(scene);
    await check();
    assert.equal(
      (await scene.alerts()).filter((alert) => !alert.startsWith('work_unled watch')).length,
      5,
      'another node may see them',
    );
    scene.pass(11 * MINUTE_MS);
    await check();
    const left = (await scene.alerts()).filter((alert) => !alert.startsWith('work_unled'));
    assert.deepEqual(left.sort(), [`relayer_balance_low ${here}`, `stray_money ${former}`].sort());
    assert.ok(!(await scene.alerts()).includes(`work_unled relay ${former.replace(':0x', ' 0x')}`));
  });
});
