import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { createAlarms } from '../../src/actions/alarms.ts';
import { auditBooks } from '../../src/actions/books/audit/audit-books.ts';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { recordEntries } from '../../src/actions/books/record.ts';
import { command } from '../../src/actions/command.ts';
import { ACCOUNTS, floatAddedEntry, OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { lockBalance } from '../../src/store/money/books.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { type BooksScene, openBooksScene } from './books-scene.ts';
import type { SceneInput } from './relay-scene.ts';

const HOUR_MS = 60 * 60_000;
const USDC = SANDBOX_ASSETS['eip3009-vrs'];
const MERCHANT = 'mrch_test';
const SETTLED = ACCOUNTS.settled(MERCHANT);
const PAYABLE = ACCOUNTS.payable(MERCHANT);

describe('the books', () => {
  let scene: BooksScene;
  const open = async (input: SceneInput = {}) => {
    scene = await openBooksScene(input);
    return scene;
  };
  afterEach(() => scene.close());

  it('follow a payment from its signature to the merchant, and its gas', async () => {
    await open();
    await scene.accept();
    assert.deepEqual(await scene.balances(USDC), { payer: -1_000n, in_flight: 1_000n });
    const node = await scene.newNode();
    await node.turn(2);
    assert.deepEqual(await scene.balances(USDC), { payer: -1_000n, fees: 10n, [SETTLED]: 990n });
    const signer = scene.signers[0]?.address ?? '';
    const coin = await scene.balances(SANDBOX_ASSETS.native);
    assert.equal(coin[ACCOUNTS.gas(signer)], 10n ** 21n - scene.control.balanceOf(signer, SANDBOX_ASSETS.native));
  });

  it('separate the money of a merchant without a destination', async () => {
    await open();
    const { intermediateAccount: recipient } = scene.connected;
    await scene.accept({ terms: { recipient }, isHeld: true });
    const node = await scene.newNode();
    await node.turn(2);
    assert.deepEqual(await scene.balances(USDC), { payer: -1_000n, fees: 10n, [PAYABLE]: 990n });
    assert.deepEqual(await scene.differences(), []);
  });

  it('let the operator take fees that lie on the intermediate account, and nothing else', async () => {
    await open();
    const { intermediateAccount: account } = scene.connected;
    await scene.accept({ terms: { recipient: account, feeAccount: account }, isHeld: true });
    const node = await scene.newNode();
    await node.turn(2);
    const differences = async () => {
      await node.turn();
      return (await reconcile(scene, { ...scene.connected, feeAccount: account }))?.differences.length;
    };
    for (const [held, expected] of [
      [1_000n, 0],
      [990n, 0],
      [989n, 1],
      [1_001n, 1],
    ] as const) {
      scene.control.setBalance(account, USDC, held);
      assert.equal(await differences(), expected, `${held}`);
    }
  });

  it('are alerted about when a balance differs twice, and until it agrees', async () => {
    await open();
    const { connected } = scene;
    await scene.accept();
    const node = await scene.newNode();
    await node.turn(2);
    const alarms = createAlarms(scene, 'books_differ');
    const unread = createAlarms(scene, 'books_unread');
    const audited = { connected, lease: await scene.lead(), alarms, unread, doubted: new Set<string>(), addresses: {} };
    const audit = async () => {
      await auditBooks({ ...scene, holder: 'test' }, audited);
      return scene.alerts();
    };
    assert.deepEqual(await audit(), []);
    scene.control.setBalance(connected.intermediateAccount, USDC, 5n);
    await node.turn();
    assert.deepEqual(await audit(), []);
    assert.deepEqual(await audit(), [`books_differ ${scene.network}`]);
    scene.control.setBalance(connected.intermediateAccount, USDC, 0n);
    await node.turn();
    assert.deepEqual(await audit(), []);
  });

  it('book a payment that the payer carried out alone at once', async () => {
    await open();
    const { pay } = await scene.offer();
    const node = await scene.newNode();
    assert.deepEqual(await scene.balances(SANDBOX_ASSETS.native), {});
    pay();
    await node.turn(2);
    const on = await scene.balances(SANDBOX_ASSETS.native);
    assert.deepEqual([on.payer, on.fees, on[SETTLED]], [-1_000n, 10n, 990n]);
  });

  it('reverse the in-flight amount when an authorization expires', async () => {
    await open();
    await scene.accept();
    const node = await scene.newNode();
    scene.control.goDown('broadcast');
    await node.turn();
    scene.pass(2 * HOUR_MS);
    await node.turn(3);
    assert.deepEqual(await scene.balances(USDC), {});
    assert.deepEqual(await scene.problems(), []);
  });

  it('take a payment back that a deep reorganisation removed, and book it again when it is paid again', async () => {
    await open();
    await scene.accept();
    const node = await scene.newNode();
    await node.turn(2);
    scene.control.reorg(2, { length: 3, transactions: 'dropped' });
    await node.watch();
    assert.deepEqual(await scene.balances(USDC), { payer: -1_000n, in_flight: 1_000n });
    await node.turn(4);
    assert.deepEqual(await scene.balances(USDC), { payer: -1_000n, fees: 10n, [SETTLED]: 990n });
    assert.deepEqual(await scene.differences(), []);
    const signer = scene.signers[0]?.address ?? '';
    const { [ACCOUNTS.gas(signer)]: gas } = await scene.balances(SANDBOX_ASSETS.native);
    assert.equal(gas, 10n ** 21n - scene.control.balanceOf(signer, SANDBOX_ASSETS.native));
  });

  it('are written only in balance, and never changed or removed', async () => {
    await open();
    await scene.accept();
    const insert = (lines: string) =>
      command(
        scene,
        async (tx) => tx`
          insert into book_entries (network, asset, kind, subject, reference, at, lines)
          values ('x', 'y', 'paid', 's', 'r', now(), ${lines}::text::jsonb)`,
      );
    await assert.rejects(insert('[{"account":"a","units":"1"},{"account":"b","units":"-2"}]'), { code: '23514' });
    await assert.rejects(insert('[]'), { code: '23514' });
    await insert('[{"account":"a","units":"2"},{"account":"b","units":"-2"}]');
    await scene.seal();
    for (const statement of [
      `update book_entries set note = 'x'`,
      `update book_entries set hash = 'x' where hash is not null`,
      'delete from book_entries',
      'truncate book_entries',
    ]) {
      await assert.rejects(
        command(scene, async (tx) => tx.unsafe(statement)),
        /rows of book_entries are never changed/,
      );
    }
  });

  it('give the exact balance of an account to every spender, sealed or not', async () => {
    await open();
    const about = { network: scene.network, asset: USDC, subject: 'f', reference: '0x1', merchantId: null };
    const add = (units: bigint) =>
      command(scene, (tx, now) =>
        recordEntries(tx, [floatAddedEntry(about, OPERATOR_FLOAT, units, { transaction: '0x1', block: 1 })], now),
      );
    const held = () => command(scene, (tx) => lockBalance(tx, ACCOUNTS.float(OPERATOR_FLOAT), USDC));
    await add(5n);
    await scene.seal();
    await add(7n);
    assert.equal(await held(), 12n);
    await scene.seal();
    assert.equal(await held(), 12n);
  });
});

describe('till books verify', () => {
  let scene: BooksScene;
  afterEach(() => scene.close());

  /** Three payments, sealed. */
  async function openSealed() {
    scene = await openBooksScene();
    for (let count = 0; count < 3; count += 1) await scene.accept();
    const node = await scene.newNode();
    await node.turn(2);
    await scene.seal();
    assert.deepEqual(await scene.problems(), []);
    return node;
  }

  it('finds no problem in unchanged books, and reports unsealed entries', async () => {
    await openSealed();
    const before = await scene.verify();
    assert.equal(before?.unsealed.count, 0);
    // Each was accepted and paid, and one transaction burnt gas.
    assert.equal(before?.sealed, 7);
    await scene.accept();
    const after = await scene.verify();
    assert.deepEqual([after?.sealed, after?.unsealed.count, after?.head], [7, 1, before?.head]);
    assert.ok(after?.unsealed.oldest instanceof Date);
    await scene.seal();
    assert.notEqual((await scene.verify())?.head, before?.head);
    assert.deepEqual(await scene.problems(), []);
  });

  it('names an entry whose amounts were changed, although it still balances', async () => {
    await openSealed();
    await scene.tamper(
      `update book_entries set lines = replace(lines::text, '990', '980')::jsonb || '[{"account":"thief","units":"10"}]'
       where sequence = 4`,
    );
    const problems = await scene.problems();
    assert.match(problems[0] ?? '', /^Entry 4 \(paid of pay_\w+, id \d+\) was changed\.$/);
    assert.ok(problems.some((problem) => problem.startsWith('The balance of thief')));
    assert.ok(problems.some((problem) => /settled.* is kept as 2970, but its entries add up to 2960/.test(problem)));
  });

  it('names entries that were removed, in the middle and at the end', async () => {
    await openSealed();
    await scene.tamper('delete from book_entries where sequence = 2');
    assert.ok((await scene.problems()).includes('Entry 2 is missing.'));
    await scene.tamper('delete from book_entries where sequence in (6, 7)');
    const problems = await scene.problems();
    assert.ok(problems.includes('Entries 6 to 7 are missing at the end.'));
  });

  it('names a balance that was changed', async () => {
    await openSealed();
    await scene.tamper(`update book_balances set units = units + 1 where account = 'fees'`);
    assert.deepEqual(await scene.problems(), [
      `The balance of fees in ${USDC} is kept as 31, but its entries add up to 30.`,
    ]);
  });

  it('misses an item that is in flight and not in the books', async () => {
    await openSealed();
    await scene.accept();
    await scene.tamper(`delete from book_entries where sequence is null`);
    assert.deepEqual(await scene.problems(), [`In flight in ${USDC} are 0 by the books, and 1000 by the items.`]);
  });
});
