import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createAlarms } from '../../src/actions/alarms.ts';
import { auditBooks } from '../../src/actions/books/audit/audit-books.ts';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { exportBooks } from '../../src/actions/books/export-books.ts';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { command } from '../../src/actions/command.ts';
import { putDestinations } from '../../src/actions/parties/destination-rows.ts';
import { amountText, tokenText } from '../../src/chains/amount-text.ts';
import { ChainUnavailableError, ContractFaultError, UnreadableAnswerError } from '../../src/chains/chain-errors.ts';
import { checksumAddress } from '../../src/domain/addresses/eip155.ts';
import { ACCOUNTS } from '../../src/domain/books.ts';
import { termsOfNew } from '../../src/domain/cooling-off.ts';
import { feeOf } from '../../src/domain/fees.ts';
import { feeInToken, quoteFor } from '../../src/domain/quote.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { IS_LONG } from '../long.ts';
import { REGISTRY } from '../registry.ts';
import { type BooksScene, openBooksScene } from './books-scene.ts';
import type { TestNode } from './relay-scene.ts';

const PAYMENTS = IS_LONG ? 1_000 : 400;
const AT_ONCE = 50;
const SEED = 20_260_301;
const MERCHANT = 'mrch_test';
const USD = 'iso4217/USD';
const DESTINATION = checksumAddress('0xde57000000000000000000000000000000000001');
const ASSETS = [SANDBOX_ASSETS['eip3009-vrs'], SANDBOX_ASSETS['eip3009-bytes']] as const;
/** A token with which nobody pays here. */
const UNBOOKED = SANDBOX_ASSETS.permit2;

/** Numbers below a bound, the same ones in every run. */
function createDice(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe(`the books of ${PAYMENTS} payments with faults`, () => {
  let scene: BooksScene;
  let node: TestNode;
  const dice = createDice(SEED);
  const paid = { gross: new Map<string, bigint>(), fee: new Map<string, bigint>(), held: new Map<string, bigint>() };

  before(async () => {
    scene = await openBooksScene({ depth: 3, relayers: 2 });
    node = await scene.newNode();
    await command(scene, (tx, now) =>
      putDestinations(
        tx,
        scene,
        ASSETS.map((asset, index) => ({
          id: `crypto_${index}`,
          merchantId: MERCHANT,
          asset,
          assetKey: asset.toLowerCase(),
          ...termsOfNew(`${scene.network}:${DESTINATION}`, undefined, { now, periodMs: 0 }),
          createdAt: now,
        })),
      ),
    );
    await node.turn();
    await scene.openRelayers();
    for (let made = 0; made < PAYMENTS; made += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, accept));
      await fault();
      await node.turn().catch(ignoreOutage);
    }
    scene.control.comeBack();
    scene.control.beHonest();
    for (let turns = 0; turns < 60 && (await openItems()) > 0; turns += 1) {
      scene.pass(5_000);
      await node.turn();
    }
    await node.turn(5);
    await scene.seal();
  });
  after(() => scene.close());

  const openItems = async () => {
    const [row] = await scene.db.sql<{ count: number }[]>`
      select count(*)::int as count from items where state in ('due', 'sent', 'offered')`;
    return row?.count ?? 0;
  };

  async function accept() {
    const method = dice(2) === 0 ? 'eip3009-vrs' : 'eip3009-bytes';
    const { amount, fee } = quoted();
    const isHeld = dice(3) === 0;
    const recipient = isHeld ? scene.connected.intermediateAccount : DESTINATION;
    const { item } = await scene.accept({ method, terms: { amount, fee, recipient }, isHeld });
    add(paid.gross, item.asset, amount);
    add(paid.fee, item.asset, fee);
    add(paid.held, item.asset, isHeld ? amount - fee : 0n);
  }

  /** A price and a token of any decimals, under any fees. */
  function quoted() {
    const price = { unit: USD, value: BigInt(1 + dice(1_000_000)) ** BigInt(1 + dice(3)), decimals: dice(19) };
    const fixed = [{ unit: USD, value: String(dice(3) === 0 ? dice(1_000_000) : 0) }];
    const terms = { percentage: `${dice(100)}.${dice(1_000_000)}`, fixed };
    const asset = { id: 'any', symbol: 'ANY', decimals: dice(19), peg: 'USD' };
    const quote = quoteFor({ price, asset, rate: undefined }) ?? assert.fail('A dollar token is at par.');
    return { amount: quote.amount, fee: feeInToken(quote, feeOf(terms, USD, price.value)) };
  }

  /** One of the ways in which chains and endpoints make trouble. */
  async function fault() {
    const faults = [
      () => {},
      () => scene.control.broadcasts('answer_lost'),
      () => scene.control.broadcasts('lost'),
      () => scene.control.broadcasts('forgotten'),
      () => scene.control.revertNextBatches(),
      () => scene.control.reorg(1 + dice(2), { transactions: 'dropped' }),
      () => scene.control.reorg(1 + dice(2), { transactions: 'pending' }),
      // Deeper than final depth.
      () => scene.control.reorg(5, { length: 6, transactions: 'pending' }),
      () => scene.control.failNext('events'),
      () => scene.control.failNext('simulate'),
      () => scene.control.lie({ emptyEvents: 1 }),
      async () => {
        const item = await scene.payers.newItem(scene.payers.newPayer(), 'eip3009-vrs');
        // A stranger cannot make a seal of the gateway.
        scene.control.emitLookAlike({ ...item, seal: '5e'.repeat(32) });
      },
    ];
    await faults[dice(faults.length)]?.();
  }

  it('agree with the chain, account by account', async () => {
    assert.equal(await openItems(), 0);
    assert.deepEqual(await scene.differences(), []);
    assert.deepEqual(await scene.problems(), []);
    for (const asset of ASSETS) {
      const on = await scene.balances(asset);
      const gross = paid.gross.get(asset) ?? 0n;
      const fee = paid.fee.get(asset) ?? 0n;
      const held = paid.held.get(asset) ?? 0n;
      assert.deepEqual(on, {
        payer: -gross,
        fees: fee,
        [ACCOUNTS.payable(MERCHANT)]: held,
        [ACCOUNTS.settled(MERCHANT)]: gross - fee - held,
      });
      assert.equal(scene.control.balanceOf(DESTINATION, asset), gross - fee - held);
      assert.equal(scene.control.balanceOf(scene.connected.intermediateAccount, asset), held);
      assert.equal(scene.control.balanceOf(scene.connected.feeAccount, asset), fee);
    }
    for (const { address } of scene.signers) {
      const coin = await scene.balances(SANDBOX_ASSETS.native);
      assert.equal(coin[ACCOUNTS.relayer(address)], scene.control.balanceOf(address, SANDBOX_ASSETS.native));
    }
  });

  it('are exported with gross, fee and net that add up', async () => {
    const period = { from: new Date(0), to: new Date(scene.nowMs() + 1) };
    let rows = 0;
    const gross = new Map<string, bigint>();
    for await (const row of exportBooks(scene.db.sql, REGISTRY, { ...period, merchantId: MERCHANT })) {
      rows += 1;
      assert.equal(units(row.net) + units(row.fee), units(row.gross));
      add(gross, row.asset, units(row.gross));
    }
    assert.ok(rows >= PAYMENTS);
    assert.deepEqual(gross, paid.gross);
    for await (const row of exportBooks(scene.db.sql, REGISTRY, { ...period, merchantId: 'mrch_other' }))
      assert.fail(row.payment);
  });

  it('miss coin that left a relayer for something they do not know', async () => {
    const [{ address } = { address: '' }] = scene.signers;
    const balance = scene.control.balanceOf(address, SANDBOX_ASSETS.native);
    scene.control.setBalance(address, SANDBOX_ASSETS.native, balance - 7n);
    await node.turn(3);
    const [difference, ...more] = await scene.differences();
    assert.match(
      difference ?? '',
      new RegExp(`^Account ${address} has 0\\.000000000000000007 ETH on Till Sandbox less than the books say`),
    );
    assert.deepEqual(more, []);
    scene.control.setBalance(address, SANDBOX_ASSETS.native, balance);
    await node.turn(3);
    assert.deepEqual(await scene.differences(), []);
  });

  it('detect missing money on the intermediate account, and unbooked money', async () => {
    const { intermediateAccount } = scene.connected;
    const [asset] = ASSETS;
    const booked = paid.held.get(asset) ?? 0n;
    for (const wrong of [booked - 1n, booked + 1n]) {
      scene.control.setBalance(intermediateAccount, asset, wrong);
      await node.turn(3);
      assert.deepEqual(await scene.differences(), [
        `The intermediate account holds ${amountText(REGISTRY, asset, wrong)}; by the books it should be ${tokenText(REGISTRY, asset, booked)}.`,
      ]);
    }
    scene.control.setBalance(intermediateAccount, asset, booked);
    await node.turn(3);
    assert.deepEqual(await scene.differences(), []);
  });

  it('are not compared while the balance of any token cannot be asked for, booked or not', async () => {
    const { chain } = scene.connected;
    const compareWith = (error: Error) => {
      const holding: typeof chain.reader.holding = (account, asset, block) =>
        asset === UNBOOKED ? Promise.reject(error) : chain.reader.holding(account, asset, block);
      const reader = { ...chain.reader, holding };
      return reconcile(scene, { ...scene.connected, chain: { ...chain, reader } });
    };
    await assert.rejects(compareWith(new ChainUnavailableError(scene.network, 'no endpoint answers')), /no endpoint/);
    for (const absent of [
      new ContractFaultError('0x1', 'does not exist'),
      new UnreadableAnswerError(scene.network, 'no answer is readable'),
    ])
      assert.deepEqual((await compareWith(absent))?.differences, [], 'a token that is not on the chain has no balance');
  });

  it('name a row that was changed and a payment that was dropped, raise an alert, and get it back from the chain', async () => {
    const [changed, dropped] = await scene.db.sql<{ commitment: string; subject: string; amount: string }[]>`
      select commitment, subject, amount from items where not is_held and state = 'paid' order by subject limit 2`;
    assert.ok(changed !== undefined && dropped !== undefined);
    const lease = await scene.lead();
    const alarms = createAlarms(scene, 'books_differ');
    const unread = createAlarms(scene, 'books_unread');
    const audit = () =>
      auditBooks(
        { ...scene, holder: 'test' },
        { connected: scene.connected, lease, alarms, unread, doubted: new Set(), addresses: {} },
      );
    await scene.tamper(`update items set amount = amount + 1 where commitment = '${changed.commitment}'`);
    for (const statement of [
      `delete from events where object_id = '${dropped.subject}'`,
      `delete from relay_items where commitment = '${dropped.commitment}'`,
      `delete from chain_events where commitment = '${dropped.commitment}'`,
      `delete from book_entries where reference = '${dropped.commitment}'`,
      `delete from items where commitment = '${dropped.commitment}'`,
      `delete from payments where id = '${dropped.subject}'`,
    ]) {
      await scene.tamper(statement);
    }
    const differences = await scene.differences();
    assert.deepEqual(differences.toSorted(), [
      `${changed.subject} differs from the chain in the amount of its item.`,
      `${dropped.subject} was paid on chain, and nothing is known of its item.`,
    ]);
    await audit();
    assert.deepEqual(await scene.alerts(), [`books_differ ${scene.network}`]);

    const report = await rebuild(scene, scene.connected, { from: 0 });
    assert.deepEqual(report?.rebuilt, [dropped.subject]);
    assert.deepEqual(report?.unplaced, []);
    const payment = await scene.payment(dropped.subject);
    assert.deepEqual([payment.status, payment.merchantId, payment.tokenValue], ['succeeded', MERCHANT, dropped.amount]);
    assert.equal((await scene.item(dropped.commitment))?.state, 'paid');
    await scene.tamper(`update items set amount = amount - 1 where commitment = '${changed.commitment}'`);
    assert.deepEqual(await scene.differences(), []);
    await audit();
    assert.deepEqual(await scene.alerts(), []);
    const again = await rebuild(scene, scene.connected, { from: 0 });
    assert.deepEqual(again?.rebuilt, []);
    // The chain of hashes does not forget.
    assert.ok((await scene.problems()).some((problem) => /missing/.test(problem)));
  });
});

function add(sums: Map<string, bigint>, key: string, units: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + units);
}

/** All assets of the test have six decimals. */
function units(text: string): bigint {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const value = BigInt(whole + fraction.padEnd(6, '0'));
  return text.startsWith('-') ? -value : value;
}

function ignoreOutage(error: unknown): void {
  if (!(error instanceof Error && error.name === 'ChainUnavailableError')) throw error;
}
