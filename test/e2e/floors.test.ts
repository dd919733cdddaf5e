import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { checkSolvency } from '../../src/actions/books/audit/solvency.ts';
import { recordEntries } from '../../src/actions/books/record.ts';
import { command } from '../../src/actions/command.ts';
import {
  ACCOUNTS,
  correctingEntry,
  type Entry,
  entry,
  floatAddedEntry,
  floatReturnEntry,
  OPERATOR_FLOAT,
  payoutEntry,
  refundCoveredEntry,
  refundEntry,
  unexpectedReturnEntry,
} from '../../src/domain/books.ts';
import { listFreezes } from '../../src/store/parties/freezes.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

describe('the floor of the books', () => {
  let scene: RefundScene;
  let node: TestNode;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
    await node.turn();
    await scene.payOut();
  });
  afterEach(() => scene.close());

  const about = () => {
    const { network, merchantId } = scene;
    return { network, asset: DOLLAR, subject: 'test', reference: 'test', merchantId };
  };
  /** An entry of an older version: the rest of held money became a float of its merchant. */
  const heldToFloat = (units: bigint) =>
    entry('held_to_float', about(), [
      { account: ACCOUNTS.payable(scene.merchantId), units: -units },
      { account: ACCOUNTS.float(scene.merchantId), units },
    ]);
  const record = (...entries: Entry[]) => command(scene, (tx, at) => recordEntries(tx, entries, at));
  const PROOF = { transaction: '0x01', block: 1 };
  const none = { payable: 0n, merchantFloat: 0n, operatorFloat: 0n };

  const spending: Readonly<Record<string, () => Entry>> = {
    'payable, by a payout': () => payoutEntry('sent', about(), 1n),
    'payable, by a refund': () => refundCoveredEntry(about(), { ...none, payable: 1n }),
    'payable, by a float': () => heldToFloat(1n),
    'a float, by a refund': () => refundCoveredEntry(about(), { ...none, merchantFloat: 1n }),
    'a float, by its return': () => floatReturnEntry('sent', about(), { owner: OPERATOR_FLOAT, units: 1n }),
    'unexpected money, by its return': () => unexpectedReturnEntry('sent', about(), { units: 1n }),
    'refunds, by a refund': () => refundEntry('sent', about(), 1n),
  };
  for (const [name, spend] of Object.entries(spending)) {
    it(`refuses to take more than there is from ${name}`, async () => {
      await assert.rejects(record(spend()), { name: 'FloorError' });
      assert.deepEqual(await scene.books(), {});
    });
  }

  it('lets all be spent once, by transactions at the same time', async () => {
    await record(floatAddedEntry(about(), OPERATOR_FLOAT, 10n, PROOF));
    const spend = () => record(floatReturnEntry('sent', about(), { owner: OPERATOR_FLOAT, units: 6n }));
    const outcomes = await Promise.allSettled([spend(), spend(), spend()]);
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected']);
    assert.equal((await scene.books())[ACCOUNTS.float(OPERATOR_FLOAT)], 4n);
  });

  it('lets money pass through an account in one go', async () => {
    await record(floatAddedEntry(about(), scene.merchantId, 10n, PROOF));
    await record(refundCoveredEntry(about(), { ...none, merchantFloat: 10n }), refundEntry('sent', about(), 10n));
    assert.equal((await scene.books())[ACCOUNTS.outgoing], 10n);
  });

  it('books the excess of what the chain shows as missing: outgoing money that left, with an alert', async () => {
    await record(floatAddedEntry(about(), OPERATOR_FLOAT, 10n, PROOF));
    await record(floatReturnEntry('sent', about(), { owner: OPERATOR_FLOAT, units: 4n }));
    await record(payoutEntry('done', about(), 10n, PROOF));
    const { [ACCOUNTS.outgoing]: outgoing = 0n, [ACCOUNTS.missing(scene.intermediate)]: missing } = await scene.books();
    assert.deepEqual([outgoing, missing], [0n, -6n]);
    assert.ok(
      (await listAlerts(scene.db.sql)).some(({ name, subject }) => name === 'money_missing' && subject === DOLLAR),
    );
  });

  it('never refuses a rebuild: the excess is missing', async () => {
    const shouldBe = [
      { account: ACCOUNTS.payable(scene.merchantId), units: -5n },
      { account: ACCOUNTS.settled(scene.merchantId), units: 5n },
    ];
    const rebuilt = correctingEntry('payout_rebuilt', about(), { is: [], shouldBe, proof: PROOF });
    assert.ok(rebuilt);
    await record(rebuilt);
    assert.deepEqual(await scene.books(), {
      [ACCOUNTS.missing(scene.intermediate)]: -5n,
      [ACCOUNTS.settled(scene.merchantId)]: 5n,
    });
  });

  it('freezes an asset of which money is missing at the first comparison', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    await record(payoutEntry('done', about(), 6n, PROOF));
    scene.control.setBalance(scene.intermediate, DOLLAR, 94n);
    await node.turn();
    await checkSolvency(scene, scene.connected);
    assert.deepEqual(
      (await listFreezes(scene.db.sql)).map(({ scope, subject }) => [scope, subject]),
      [['asset', DOLLAR]],
    );
  });
});
