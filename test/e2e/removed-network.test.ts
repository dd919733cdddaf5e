import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { raiseAlert } from '../../src/actions/alerts.ts';
import { command } from '../../src/actions/command.ts';
import { createWorkCheck } from '../../src/actions/oversight/check-work.ts';
import { ALERT_SOURCES } from '../../src/actions/oversight/clear-outdated-alerts.ts';
import type { Chains } from '../../src/chains/chains.ts';
import { ALERT_NAMES } from '../../src/domain/alert.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
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
    const ready = async () => (await gateway.call({ url: '/ready' })).json();
    const remarks = async (): Promise<readonly string[]> => (await ready()).remarks;
    assert.equal((await ready()).ready, true, 'the other networks go on');
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

  /** The subjects of an alert about the network: itself, an asset, an account, and work. */
  const subjectsOf = (network: string, asset: string, signer: string) => [
    network,
    asset,
    `${network}:${signer}`,
    `${network}:payers`,
    `watch ${network}`,
    `begin-outgoing ${network}`,
    `relay ${network} ${signer}`,
  ];
  const raiseAll = async (subjects: readonly string[]) => {
    for (const name of ALERT_NAMES)
      for (const subject of subjects) await raiseAlert(scene, { name, subject, message: 'As before.' });
  };
  const stillRaised = async (subjects: readonly string[]) => {
    const alerts = new Set(await scene.alerts());
    return ALERT_NAMES.filter((name) => subjects.some((subject) => alerts.has(`${name} ${subject}`)));
  };

  it('has every alert cleared that only a node with the network would clear, and no other one', async () => {
    const usdc = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
    const removed = subjectsOf(
      'eip155:84532',
      `eip155:84532/erc20:${usdc}`,
      '0x00000000000000000000000000000000000000f0',
    );
    await raiseAll(removed);
    scene.pass(11 * MINUTE_MS);
    await createWorkCheck(scene)();
    // Alerts about rows are cleared by checks of these rows, which are the same on every node.
    const ofOthers = ALERT_NAMES.filter(
      (name) => ALERT_SOURCES[name] !== 'network' && name !== 'network_missing' && name !== 'relayer_gone',
    );
    assert.deepEqual(await stillRaised(removed), ofOthers);
  });

  it('keeps the alerts of a network that this node or another one serves', async () => {
    const served = [scene.network, SANDBOX_ASSETS['eip3009-vrs'], `begin-outgoing ${scene.network}`];
    await raiseAll(served);
    scene.pass(11 * MINUTE_MS);
    await createWorkCheck(scene)();
    const isKept = (name: string) => ALERT_SOURCES[name as keyof typeof ALERT_SOURCES] === 'network';
    const kept = (await stillRaised([SANDBOX_ASSETS['eip3009-vrs']])).filter(isKept);
    assert.deepEqual(kept, ALERT_NAMES.filter(isKept));
    // Another node watches it, and this one has no network.
    await scene.newNode();
    await command(scene, (tx) => tx`update leases set until = ${new Date(scene.nowMs() + MINUTE_MS)}`);
    const check = createWorkCheck({ ...scene, chains: NO_CHAINS });
    await check();
    assert.deepEqual((await stillRaised([SANDBOX_ASSETS['eip3009-vrs']])).filter(isKept), kept);
  });
});
