import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { findDueItems } from '../../src/store/chain/due-items.ts';
import { openRelayScene, type RelayScene, type SceneInput, type TestNode } from './relay-scene.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('budgets of the relayer', () => {
  let scene: RelayScene;
  const open = async (input: SceneInput = {}) => {
    scene = await openRelayScene(input);
    return scene.newNode();
  };
  afterEach(() => scene.close());

  const gasOf = async (commitment: string) => {
    const [row] = await scene.db.sql<{ gas: string; failures: number; refusal: string | null }[]>`
      select gas_spent as gas, failures, refusal from items where commitment = ${commitment}`;
    return { gas: BigInt(row?.gas ?? 0), failures: row?.failures, refusal: row?.refusal };
  };
  const sends = async () => [
    ...(await scene.db.sql<{ lane: string; gas: string | null; coin: string | null }[]>`
      select lane, work_spent as gas, coin_spent as coin from relay_sends order by slot`),
  ];
  const subject = (part = '') => `gas_budget_spent ${scene.network}${part}`;

  /** Blocks and time pass, so that every backoff is over. */
  const live = async (node: TestNode, turns: number, stepMs = 10_000) => {
    for (let taken = 0; taken < turns; taken += 1) {
      scene.pass(stepMs);
      await node.turn();
    }
  };

  it('records the gas of each transaction, and an equal share for each of its items', async () => {
    const node = await open();
    const payments = [await scene.accept(), await scene.accept(), await scene.accept()];
    await node.turn();
    const [send] = await sends();
    const gas = BigInt(send?.gas ?? 0);
    assert.ok(gas > 0n && BigInt(send?.coin ?? 0) > gas);
    for (const { commitment } of payments) assert.equal((await gasOf(commitment)).gas, gas / 3n);
  });

  it('tries an item that fails on the chain three times, then lets it wait for its deadline, with an alert', async () => {
    const node = await open();
    const { id, commitment } = await scene.accept({ hasCode: true });
    scene.control.revertNextBatches(100);
    await live(node, 30);
    assert.equal((await scene.versions()).length, 3);
    assert.equal(await scene.status(id), 'processing');
    assert.deepEqual((await gasOf(commitment)).failures, 3);
    assert.deepEqual(await scene.alerts(), [subject(':items')]);
    assert.match(
      (await scene.alertText('gas_budget_spent')) ?? '',
      /^Payments or transfers that wait for their deadline: 1\. pay_\w+ has failed 3 times on the chain and has used [\d,]+ gas\.$/,
    );
    scene.pass(HOUR_MS);
    await node.turn(2);
    assert.equal(await scene.status(id), 'expired');
    await live(node, 2);
    assert.deepEqual(await scene.alerts(), []);
  });

  it('waits longer with each failure of a payer, whichever item failed', async () => {
    const node = await open();
    const { commitment } = await scene.accept({ hasCode: true });
    scene.control.revertNextBatches(100);
    const pauses: number[] = [];
    for (let failures = 0; failures < 2; failures += 1) {
      await node.turn();
      const [row] = await scene.db.sql<{ retryAt: Date }[]>`select retry_at as "retryAt" from payer_failures`;
      pauses.push((row?.retryAt.getTime() ?? 0) - scene.nowMs());
      await node.turn(3);
      assert.equal((await gasOf(commitment)).failures, failures + 1, 'nothing was sent meanwhile');
      scene.pass(pauses.at(-1) ?? 0);
    }
    assert.deepEqual(pauses, [5_000, 10_000]);
  });

  it('does not blame items for a transaction that reverted with others in it', async () => {
    const node = await open();
    const payments = [await scene.accept(), await scene.accept()];
    scene.control.revertNextBatches(1);
    await node.turn();
    for (const { commitment } of payments) assert.deepEqual((await gasOf(commitment)).failures, 0);
    assert.equal((await scene.db.sql`select from payer_failures`).length, 0);
    await node.turn(4);
    for (const { id } of payments) assert.equal(await scene.status(id), 'succeeded');
  });

  it('keeps few transactions of accounts with code in flight, behind all others', async () => {
    const node = await open();
    const codes = [];
    for (let made = 0; made < 8; made += 1) codes.push(await scene.accept({ hasCode: true }));
    const honest = await scene.accept();
    await node.relay();
    assert.deepEqual(
      (await sends()).map(({ lane }) => lane),
      ['main', 'apart', 'apart', 'apart', 'apart'],
    );
    await node.turn(3);
    for (const { id } of [...codes, honest]) assert.equal(await scene.status(id), 'succeeded');
  });

  it('lets payers take turns, and sends two items at once of an account with code', async () => {
    await open();
    const items: Awaited<ReturnType<RelayScene['accept']>>[] = [];
    for (let made = 0; made < 5; made += 1) items.push(await scene.accept({ hasCode: made === 4 }));
    const [busy, , , other] = items;
    const many = items.slice(0, 3).map(({ commitment }) => commitment);
    await scene.db.sql`update items set payer = ${busy?.item.payer ?? ''} where commitment = any(${many}::text[])`;
    await scene.db
      .sql`update items set accepted_at = accepted_at + interval '1 s' where commitment = ${other?.commitment ?? ''}`;
    const due = () =>
      findDueItems(scene.db.sql, {
        network: scene.network,
        signer: '',
        now: new Date(scene.nowMs()),
        limits: { failures: 3, work: undefined },
        deadlineAfter: new Date(scene.nowMs()),
        share: { index: 0, of: 1 },
        sharedBefore: new Date(scene.nowMs()),
        isolatedEach: 2,
        limit: 10,
      });
    const order = (await due()).map(({ commitment }) => items.findIndex((item) => item.commitment === commitment));
    assert.equal(order.length, 5);
    assert.ok(order.indexOf(3) < 2, 'the other payer comes before the second item of the first one');
    assert.equal(order.at(-1), 4, 'the account with code comes last');
    await scene.db.sql`update items set has_code = true where commitment = any(${many}::text[])`;
    assert.equal((await due()).length, 4, 'one of the three waits');
  });

  it('sends nothing new while gas costs more than the cap, and names both prices', async () => {
    let cap: bigint | undefined = 1_000_000n;
    const node = await open({ relaying: { feeCap: () => cap } });
    const { id } = await scene.accept();
    await node.turn(2);
    assert.deepEqual(await scene.versions(), []);
    assert.equal(await scene.status(id), 'processing');
    assert.deepEqual(await scene.alerts(), [`gas_price_above_cap ${scene.network}:${scene.signers[0]?.address}`]);
    assert.match(
      (await scene.alertText('gas_price_above_cap')) ?? '',
      /^A transaction on Till Sandbox costs up to \d+\.\d{3} gwei for a unit of gas\. The cap is 0\.001 gwei for a unit of gas: nothing new is sent\.$/,
    );
    cap = undefined;
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await scene.alerts(), []);
  });

  it('waits when the hour’s budget of the network is spent, reports the amounts, and goes on when the hour is over', async () => {
    const node = await open({ relaying: { costPerHour: () => 1n } });
    const first = await scene.accept();
    await node.turn();
    assert.equal(await scene.status(first.id), 'succeeded');
    const later = await scene.accept({ terms: { deadlineS: Math.floor((scene.nowMs() + 2 * HOUR_MS) / 1_000) } });
    await node.turn(3);
    assert.equal((await scene.item(later.commitment))?.state, 'due');
    assert.ok((await scene.alerts()).includes(subject()));
    assert.match(
      (await scene.alertText('gas_budget_spent')) ?? '',
      /^Transactions have cost [\d.]+ ETH on Till Sandbox within the hour\. The budget is [\d.]+ ETH: nothing new is sent\.$/,
    );
    scene.pass(HOUR_MS);
    await node.turn(2);
    assert.equal((await scene.item(later.commitment))?.state, 'paid');
  });

  it('keeps three quarters of the budget for plain accounts', async () => {
    let budget = 10n ** 21n;
    const node = await open({ relaying: { costPerHour: () => budget } });
    const first = await scene.accept({ hasCode: true });
    await node.turn();
    assert.equal(await scene.status(first.id), 'succeeded');
    const [send] = await sends();
    budget = BigInt(send?.coin ?? 0) * 4n;
    const code = await scene.accept({ hasCode: true });
    await node.turn(2);
    assert.equal((await scene.item(code.commitment))?.state, 'due');
    assert.ok((await scene.alerts()).includes(subject(':apart')));
    const honest = await scene.accept();
    await node.turn();
    assert.equal(await scene.status(honest.id), 'succeeded');
    budget *= 100n;
    await node.turn(2);
    assert.equal(await scene.status(code.id), 'succeeded');
  });

  it('lets the payments of a payer wait that has used its gas, and no others', async () => {
    const node = await open({ relaying: { workPerPayerHour: () => 100n } });
    const first = await scene.accept();
    await node.turn();
    assert.equal(await scene.status(first.id), 'succeeded');
    const [again, other] = [await scene.accept(), await scene.accept()];
    await scene.db.sql`update items set payer = ${again.item.payer} where commitment = ${first.commitment}`;
    await node.turn(2);
    assert.equal((await scene.item(again.commitment))?.state, 'due');
    assert.equal(await scene.status(again.id), 'processing');
    assert.equal(await scene.status(other.id), 'succeeded');
    assert.ok((await scene.alerts()).includes(subject(':payers')));
    assert.match(
      (await scene.alertText('gas_budget_spent')) ?? '',
      /^Payers that wait: 1\. 0x\w+ has used [\d,]+ gas within the hour\. The budget of a payer is 100 gas\.$/,
    );
  });

  it('does not send an item again that has used its gas', async () => {
    const node = await open({ relaying: { workPerItem: () => 1n } });
    const { id } = await scene.accept({ hasCode: true });
    scene.control.revertNextBatches(100);
    await live(node, 6);
    assert.equal((await scene.versions()).length, 1);
    assert.equal(await scene.status(id), 'processing');
    assert.ok((await scene.alerts()).includes(subject(':items')));
  });
});
