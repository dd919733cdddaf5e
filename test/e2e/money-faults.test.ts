import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { checkSolvency } from '../../src/actions/books/audit/solvency.ts';
import { command } from '../../src/actions/command.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { payOutHeld } from '../../src/actions/outgoing/payout/pay-out-held.ts';
import { recordUnexpectedTransfers } from '../../src/actions/outgoing/return/record-unexpected-transfers.ts';
import { requestReturn } from '../../src/actions/outgoing/return/request-return.ts';
import { returnUnexpected } from '../../src/actions/outgoing/return/return-unexpected.ts';
import { readHistory } from '../../src/actions/oversight/history.ts';
import { gatherFacts } from '../../src/actions/oversight/wait-facts.ts';
import { depositMac } from '../../src/actions/paying/deposit-rows.ts';
import { renewReleaseMacs } from '../../src/actions/released-places.ts';
import { within } from '../../src/actions/renew-macs.ts';
import { searchUnexpected } from '../../src/actions/watch/deposits/search-unexpected.ts';
import { ChainUnavailableError } from '../../src/chains/chain-errors.ts';
import { COLLECTORS } from '../../src/chains/evm/collectors.ts';
import { ACCOUNTS, OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { parseAccount } from '../../src/domain/caip.ts';
import { waitOf } from '../../src/domain/wait.ts';
import { depositItemKey, findDeposit, insertDeposit } from '../../src/store/chain/deposits.ts';
import { insertItems } from '../../src/store/chain/items.ts';
import { listBalances } from '../../src/store/money/books.ts';
import { markPositionsOutdated } from '../../src/store/money/positions.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { listFreezes } from '../../src/store/parties/freezes.ts';
import { DOLLAR, openRefundScene, type RefundScene, TETHER } from './refund-scene.ts';

/** Anybody can write such a token. */
const UNKNOWN_TOKEN = `${DOLLAR.split(':').slice(0, -1).join(':')}:0x${'dead'.repeat(10)}`;
const EVERYTHING = { watching: { sweepFrom: () => 0n } };

/** Ways in which money was once stolen, doubled, forgotten or stuck while every balance added up. */
describe('money that arrives in ways nobody asked for', () => {
  let scene: RefundScene;
  afterEach(() => scene.close());

  const sweepAsStranger = ({ item }: Awaited<ReturnType<RefundScene['deposit']>>, token = DOLLAR) => {
    const asked = token === item.asset ? {} : { asset: token, asked: item.asset };
    const signed = { item: { ...item, ...asked }, commitment: '', signature: '0x', hasCode: false };
    return scene.control.relayAsStranger([signed]);
  };

  const balances = async (asset: string) => {
    const rows = await listBalances(scene.db.sql, scene.network);
    return Object.fromEntries(rows.filter((row) => row.asset === asset).map(({ account, units }) => [account, units]));
  };

  /** Changes rows behind the gateway's back. */
  const tamper = (statement: string) =>
    command(scene, async (tx) => {
      await tx.unsafe('set local session_replication_role = replica');
      assert.ok((await tx.unsafe(statement)).count > 0, statement);
    });

  const lots = (id: string) => scene.db.sql<{ asset: string; net: string; reason: string | null }[]>`
    select asset, net::text, reason from lots where payment_id = ${id} order by asset = ${DOLLAR} desc, number`;

  it('is never added across tokens: a stranger sweeps both, and a wallet pays', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const deposit = await scene.deposit({ isHeld: true });
    deposit.send(1n);
    deposit.send(900n, { token: TETHER });
    await scene.live(node, 1);
    sweepAsStranger(deposit);
    sweepAsStranger(deposit, TETHER);
    await scene.live(node, 3);
    await scene.accept({ isHeld: true, terms: { subject: deposit.id } });
    await scene.live(node, 4);
    assert.equal(await scene.status(deposit.id), 'succeeded');
    assert.deepEqual(await scene.floats(), {});
    const payable = ACCOUNTS.payable(scene.merchantId);
    assert.equal((await balances(DOLLAR))[payable], 991n);
    assert.equal((await balances(TETHER))[payable], 891n);
    const destination = scene.payers.newAccount();
    await scene.register(destination);
    await scene.register(scene.payers.newAccount(), TETHER);
    await scene.live(node, 5);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 991n, 'only dollars are paid out in dollars');
    assert.equal(scene.control.balanceOf(destination, TETHER), 0n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('is not paid out while its payment is open, and is not forgotten when another token pays', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const destination = scene.payers.newAccount();
    await scene.register(destination);
    const deposit = await scene.deposit({ isHeld: true });
    deposit.send(100n);
    await scene.live(node, 1);
    sweepAsStranger(deposit);
    await scene.live(node, 4);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 0n);
    await scene.accept({ isHeld: true, method: 'permit2', terms: { subject: deposit.id } });
    await scene.live(node, 6);
    assert.equal(await scene.status(deposit.id), 'succeeded');
    // It is worth less than a transfer, and stays a lot of the merchant.
    assert.deepEqual((await lots(deposit.id))[0], { asset: DOLLAR, net: '99', reason: 'paid_twice' });
    assert.equal((await balances(DOLLAR))[ACCOUNTS.payable(scene.merchantId)], 99n);
    assert.equal((await balances(TETHER))[ACCOUNTS.payable(scene.merchantId)], 990n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('is no float if a stranger has swept it to the intermediate account', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const deposit = await scene.deposit({ isHeld: true });
    deposit.send(100n);
    await scene.live(node, 1);
    const transactionHash = sweepAsStranger(deposit);
    await scene.live(node, 4);
    const input = { owner: OPERATOR_FLOAT, asset: DOLLAR, transactionHash, actor: 'test' };
    await assert.rejects(addFloat(scene, input), /belongs to payments of this gateway/);
    assert.deepEqual(await scene.floats(), {});
    assert.deepEqual(await scene.differences(), []);
  });

  it('counts when the Collector has sent it to a deposit address', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const { id, address } = await scene.deposit();
    const { payer, signed } = await scene.payers.payable('eip3009-vrs', {
      recipient: address,
      fee: 0n,
      amount: 1_000n,
    });
    scene.control.relayAsStranger([signed]);
    await scene.live(node, 5);
    assert.equal(await scene.status(id), 'succeeded');
    const [movement] = await scene.db.sql`select sender, amount::text from movements where payment_id = ${id}`;
    assert.deepEqual(movement, { sender: payer.address, amount: '1000' });
  });

  it('has ids that do not depend on when the gateway looked', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const { id, send } = await scene.deposit({ lifeMs: 5 * 60_000 });
    scene.pass(16 * 60_000);
    await scene.live(node, 3);
    const named = () => scene.db.sql`select id, amount::text from strays where payment_id = ${id} order by id`;
    for (const units of [2_000_000n, 3_000_000n]) {
      send(units);
      await scene.live(node, 2);
    }
    const before = await named();
    assert.equal(before.length, 2);
    for (const table of ['strays', 'lots']) await tamper(`delete from ${table} where payment_id = '${id}'`);
    await tamper(`update positions set is_stale = true where payment_id = '${id}'`);
    await scene.live(node, 1);
    assert.deepEqual(await named(), before);
  });

  it('is unexpected money if one commitment was collected twice', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const { id, commitment } = await scene.accept({});
    await scene.live(node, 2);
    assert.equal(await scene.status(id), 'succeeded');
    const { number, hash } = await scene.chain.reader.head();
    await tamper(`
      insert into chain_events (network, transaction_hash, log_index, block_number, block_hash, commitment, type, fields, read_at)
      select network, '0x${'e'.repeat(64)}', 0, ${number}, '${hash}', commitment, type, fields, read_at from chain_events
      where commitment = '${commitment}' and type = 'paid'`);
    await scene.live(node, 3);
    assert.deepEqual([...(await lots(id))], [{ asset: DOLLAR, net: '990', reason: 'paid_twice' }]);
    const [late] = await scene.db.sql`select reason, amount::text from strays where payment_id = ${id}`;
    assert.deepEqual(late, { reason: 'paid_twice', amount: '1000' });
  });

  it('that tops a tolerated underpayment up is named, and can be given back', async () => {
    scene = await openRefundScene({ watching: { sweepFrom: () => 0n, toleranceBasisPoints: () => 100 } });
    const node = await scene.newNode();
    const { id, send } = await scene.deposit({ lifeMs: 5 * 60_000, isHeld: true });
    send(991n);
    await scene.live(node, 2);
    scene.pass(16 * 60_000);
    await scene.live(node, 5);
    const { status, tokenValue } = await scene.payment(id);
    assert.deepEqual([status, tokenValue], ['succeeded', '991']);
    // One transfer is dust, and joins the lot that paid. The other one is a lot of its own.
    for (const units of [9n, 2_000_000n]) {
      send(units);
      await scene.live(node, 5);
    }
    const paying = await scene.db.sql`select amount::text from lots where payment_id = ${id} and is_paying`;
    assert.deepEqual([...paying], [{ amount: '991' }]);
    const named = await scene.db.sql`
      select reason, amount::text, state from strays s where payment_id = ${id} order by s.amount`;
    assert.deepEqual(
      [...named],
      ['9', '2000000'].map((amount) => ({ reason: 'overpaid', amount, state: 'unclaimed' })),
    );
    assert.deepEqual(await scene.differences(), []);
  });

  it('that comes after a tolerated underpayment is given back, whatever tolerance holds meanwhile', async () => {
    let toleranceBasisPoints = 100;
    scene = await openRefundScene({
      watching: { sweepFrom: () => 0n, toleranceBasisPoints: () => toleranceBasisPoints },
    });
    const node = await scene.newNode();
    await scene.live(node, 1);
    const { id, send } = await scene.deposit({ lifeMs: 5 * 60_000, isHeld: true });
    send(991n);
    await scene.live(node, 2);
    scene.pass(16 * 60_000);
    await scene.live(node, 5);
    assert.equal((await scene.payment(id)).tokenValue, '991');
    toleranceBasisPoints = 0;
    send(2_000_000n);
    await scene.live(node, 5);
    const [late] = await scene.db.sql<{ id: string; fee: string }[]>`
      select id, fee::text from strays where payment_id = ${id}`;
    await scene.fill(node, OPERATOR_FLOAT, BigInt(late?.fee ?? '0'));
    const friend = scene.payers.newAccount();
    const destination = {
      chainId: scene.network,
      namespace: 'eip155',
      address: friend,
      id: `${scene.network}:${friend}`,
    } as const;
    await requestReturn(
      scene,
      { id: late?.id ?? '', merchantId: scene.merchantId, destination, actor: 'key:test', coolingOffMs: 0 },
      undefined,
      ({ state }) => ({ status: 200, body: state }),
    );
    await scene.live(node, 6);
    const [row] = await scene.db.sql`select state from strays where payment_id = ${id}`;
    assert.deepEqual(row, { state: 'returned' });
    assert.equal(scene.control.balanceOf(friend, DOLLAR), 2_000_000n);
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('that is dust joins the lot that paid, although more dust than the limit follows it', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const { id, send } = await scene.deposit({ amount: 10_000_000n, isHeld: true });
    for (const units of [9_500_000n, 500_000n, 600_000n]) {
      send(units);
      await scene.live(node, 4);
    }
    assert.equal(await scene.status(id), 'succeeded');
    const paid = await scene.db.sql`
      select sum(amount)::text as amount from lots where payment_id = ${id} and is_paying`;
    assert.deepEqual([...paid], [{ amount: '10000000' }]);
    const late = await scene.db.sql`select reason, amount::text from strays where payment_id = ${id}`;
    assert.deepEqual([...late], [{ reason: 'overpaid', amount: '600000' }]);
    // The operator gives the fee back.
    await scene.fill(node, OPERATOR_FLOAT, 200_000n);
    const destination = parseAccount(`${scene.network}:${scene.payers.newAccount()}`);
    assert.ok(destination.ok);
    await scene.request(id, { destination: destination.value });
    await scene.live(node, 6);
    assert.equal((await scene.refund(id)).state, 'refunded');
    assert.deepEqual(await scene.differences(), []);
  });

  for (const [units, status] of [
    [1_000n, 'succeeded'],
    [400n, 'expired'],
  ] as const) {
    it(`late, from a listed sender, is taken off once: beside ${units} units in time the payment has ${status}`, async () => {
      const hits = new Set<string>();
      const list = { hash: 'ab'.repeat(32), version: '7', date: '2026-02-28' };
      const screening = {
        decide: (accounts: readonly string[]) => ({ hits: accounts.filter((each) => hits.has(each)), list }),
      };
      scene = await openRefundScene({ ...EVERYTHING, screening });
      const node = await scene.newNode();
      const { id, address, send } = await scene.deposit({ lifeMs: 5 * 60_000 });
      const listed = scene.payers.newAccount();
      hits.add(`${scene.network}:${listed}`);
      send(units);
      scene.control.mine();
      scene.pass(16 * 60_000);
      send(700n, { from: listed });
      scene.control.mine();
      await scene.live(node, 6);
      assert.equal(await scene.status(id), status);
      // Money of listed senders waits for a person, and so does the rest of the address.
      assert.equal(scene.control.balanceOf(address, DOLLAR), units + 700n);
      const [sum] = await scene.db.sql`select sum(amount)::int as units from lots where payment_id = ${id}`;
      assert.deepEqual(sum, { units: Number(units) + 700 });
      assert.deepEqual(await scene.differences(), []);
    });
  }

  it('through the Collector, to the intermediate account, by a stranger is unexpected money that an operator can give back', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    await scene.live(node, 1);
    const { id } = await scene.deposit({ isHeld: true });
    // The first release of the Collector shows any subject, without a seal.
    const collector = COLLECTORS[0]?.address ?? '';
    for (const terms of [{ fee: 0n }, { fee: 10n, subject: id }]) {
      const own = { recipient: scene.intermediate, collector, ...terms };
      const { signed } = await scene.payers.payable('eip3009-vrs', own);
      scene.control.relayAsStranger([signed]);
      await scene.live(node, 4);
    }
    assert.equal(await scene.status(id), 'requires_action');
    assert.deepEqual(await scene.differences(), []);
    const strays = await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
    assert.deepEqual(strays.map(({ amount, paymentId }) => [amount, paymentId]).toSorted(), [
      ['1000', null],
      ['990', null],
    ]);
    const recipient = scene.payers.newAccount();
    const to = { chainId: scene.network, address: recipient };
    for (const { id: stray } of strays) {
      // By its log the Collector has sent it, which keeps nothing.
      await assert.rejects(returnUnexpected(scene, { id: stray, to: undefined, actor: 'Ada' }), /--to/);
      await returnUnexpected(scene, { id: stray, to, actor: 'Ada' });
    }
    await scene.live(node, 6);
    assert.equal(scene.control.balanceOf(recipient, DOLLAR), 1_990n);
    assert.equal(scene.control.balanceOf(scene.intermediate, DOLLAR), 0n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('after the end of an expired payment is paid out, and settles nothing', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const destination = scene.payers.newAccount();
    await scene.register(destination);
    const { id, send } = await scene.deposit({ lifeMs: 5 * 60_000, isHeld: true });
    scene.pass(16 * 60_000);
    await scene.live(node, 3);
    assert.equal(await scene.status(id), 'expired');
    send(2_000_000n);
    await scene.live(node, 8);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 1_999_990n);
    const types = await scene.db.sql<{ type: string }[]>`select type from events where object_id = ${id}`;
    assert.ok(types.every(({ type }) => type !== 'payment.settled'));
    assert.equal(await scene.settlement(id), undefined);
    assert.deepEqual(await scene.differences(), []);
  });

  it('in a wrong token, swept by us, keeps no signature of the payment from being sent', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const { id, send } = await scene.deposit();
    send(300n, { token: TETHER });
    await scene.live(node, 4);
    const [sweep] = await scene.db.sql`select state from items where subject = ${id} and purpose = 'sweep'`;
    assert.deepEqual(sweep, { state: 'paid' });
    await scene.accept({ terms: { subject: id } });
    await scene.live(node, 3);
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('in a token that the gateway does not serve, swept by a stranger, keeps no payment from succeeding', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const deposit = await scene.deposit();
    deposit.send(300n, { token: TETHER });
    await scene.live(node, 4);
    scene.control.setBalance(deposit.address, UNKNOWN_TOKEN, 1n);
    sweepAsStranger(deposit, UNKNOWN_TOKEN);
    deposit.send(1_000n);
    await scene.live(node, 5);
    assert.equal(await scene.status(deposit.id), 'succeeded');
    assert.equal(scene.control.balanceOf(deposit.item.recipient, DOLLAR), 990n);
    assert.deepEqual(await scene.differences(), []);
  });

  async function payWithoutFeeAccount({ isHeld, transfers }: { isHeld: boolean; transfers: readonly bigint[] }) {
    const amount = transfers.reduce((sum, each) => sum + each, 0n);
    const net = amount - 10n;
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const shop = scene.payers.newAccount();
    await scene.register(shop);
    const { feeAccount } = scene.connected;
    scene.control.setBlacklisted(feeAccount, DOLLAR);
    const { id, address, item, send } = await scene.deposit({ isHeld, amount });
    for (const units of transfers) send(units);
    await scene.live(node, 8);
    const to = isHeld ? shop : item.recipient;
    assert.deepEqual(
      [to, address, feeAccount].map((account) => scene.control.balanceOf(account, DOLLAR)),
      [net, 10n, 0n],
    );
    assert.equal((await scene.settlement(id))?.amount, `${net}`);
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.fill(node, scene.merchantId, net);
    const payer = scene.payers.newAccount();
    const destination = { id: `${scene.network}:${payer}`, chainId: scene.network, address: payer };
    await scene.request(id, { destination: { ...destination, namespace: 'eip155' } });
    await scene.live(node, 6);
    assert.equal(scene.control.balanceOf(payer, DOLLAR), amount);
    assert.deepEqual(await scene.differences(), []);
    scene.control.setBlacklisted(feeAccount, DOLLAR, false);
    for (let hours = 0; hours < 3; hours += 1) {
      scene.pass(3_600_000);
      await scene.live(node, 4);
    }
    assert.equal(scene.control.balanceOf(feeAccount, DOLLAR), 10n);
    assert.deepEqual(await scene.differences(), []);
  }

  for (const [payer, transfers] of [
    ['one transfer', [1_000n]],
    ['several transfers', [4_300_000n, 5_700_000n]],
  ] as const) {
    it(`reaches the merchant by a payout and can be refunded while the token refuses the fee account: ${payer}`, () =>
      payWithoutFeeAccount({ isHeld: true, transfers }));

    it(`reaches the merchant at once and can be refunded while the token refuses the fee account: ${payer}`, () =>
      payWithoutFeeAccount({ isHeld: false, transfers }));
  }

  it('is swept if it paid, however little that is worth', async () => {
    scene = await openRefundScene({ watching: { sweepFrom: () => 500n } });
    const node = await scene.newNode();
    const { id, item, send } = await scene.deposit();
    send(1_000n);
    await scene.live(node, 5);
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal(scene.control.balanceOf(item.recipient, DOLLAR), 990n);
  });

  describe('from a sender on the screening list, beside money that paid', () => {
    const hits = new Set<string>();
    const list = { hash: 'ab'.repeat(32), version: '7', date: '2026-02-28' };
    const screening = {
      decide: (accounts: readonly string[]) => ({ hits: accounts.filter((each) => hits.has(each)), list }),
    };

    async function paidBeside(units: bigint) {
      const node = await scene.newNode();
      const deposit = await scene.deposit();
      const listed = scene.payers.newAccount();
      hits.add(`${scene.network}:${listed}`);
      deposit.send(1_000n);
      deposit.send(units, { from: listed });
      await scene.live(node, 6);
      assert.equal(await scene.status(deposit.id), 'succeeded');
      return { node, ...deposit };
    }

    it('stops no sweep if it is dust', async () => {
      scene = await openRefundScene({ screening });
      const { address, item } = await paidBeside(999_999n);
      assert.equal(scene.control.balanceOf(address, DOLLAR), 0n);
      assert.equal(scene.control.balanceOf(item.recipient, DOLLAR), 990n + 999_999n);
      assert.deepEqual(await scene.differences(), []);
    });

    it('stops the sweep although somebody has released its address in the database', async () => {
      scene = await openRefundScene({ screening });
      const { node, id, address } = await paidBeside(1_000_000n);
      const release = (mac: string | null) =>
        command(scene, async (tx, at) => {
          await tx`update deposit_places set is_released = true, release_mac = ${mac} where payment_id = ${id}`;
          await markPositionsOutdated(tx, [id], at);
        });
      for (const mac of [null, 'forged']) {
        await release(mac);
        await scene.live(node, 4);
        assert.equal(scene.control.balanceOf(address, DOLLAR), 1_001_000n);
      }
      // A rotation after the loss of a secret trusts all rows, and then the address is swept.
      const renewed = await command(scene, async (tx, at) => {
        await markPositionsOutdated(tx, [id], at);
        return renewReleaseMacs(within(tx), scene, () => true);
      });
      assert.equal(renewed, 1);
      await scene.live(node, 5);
      assert.equal(scene.control.balanceOf(address, DOLLAR), 0n);
    });

    it('stops the sweep although somebody has changed its verdict in the database, or stored its transfer anew', async () => {
      scene = await openRefundScene({ screening });
      const { node, id, address } = await paidBeside(1_000_000n);
      const stays = async () => {
        await command(scene, (tx, at) => markPositionsOutdated(tx, [id], at));
        await scene.live(node, 4);
        assert.equal(scene.control.balanceOf(address, DOLLAR), 1_001_000n);
      };
      await scene.db.sql`update movements set is_screened = false where payment_id = ${id}`;
      await stays();
      await scene.db.sql`
        update movements set log_index = log_index + 1000000, is_screened = false where payment_id = ${id} and amount = 1000000`;
      await stays();
      await scene.db
        .sql`update movements set log_index = log_index - 1000000 where payment_id = ${id} and amount = 1000000`;
      await stays();
      const [listed] = await scene.db.sql<{ row: Record<string, string> }[]>`
        delete from movements m where payment_id = ${id} and amount = 1000000 returning to_jsonb(m) as row`;
      const row = scene.db.sql.json({ ...listed?.row, is_screened: false } as never);
      await scene.db.sql`insert into movements select (jsonb_populate_record(null::movements, ${row})).*`;
      await stays();
      await assert.rejects(scene.db.sql`delete from screened_movements`);
    });

    it('is named as the reason of the wait, with the command that ends it', async () => {
      scene = await openRefundScene({ screening });
      const { node, id, address } = await paidBeside(1_000_000n);
      const wait = async () => {
        const facts = { ...scene, db: scene.db.sql, clock: scene.world.clock, settings: {}, asksChain: false };
        return waitOf(await gatherFacts(facts, await readHistory(scene.db.sql, await scene.payment(id), 100)));
      };
      const { cause, reason, text = '', partnerText = '' } = (await wait()) ?? {};
      assert.deepEqual([cause, reason], ['listed_sender', 'settlement']);
      assert.match(text, new RegExp(`1\\.00 USDC .*${address}.*till strays search ${id} --sweep --listed`));
      assert.doesNotMatch(partnerText, new RegExp(`${address}|listed|till `));
      await searchUnexpected(
        { ...scene, sweepFrom: () => 1n },
        { paymentId: id, network: scene.network, isSweep: true, isListed: true, actor: 'Ada' },
      );
      assert.equal(await wait(), undefined, 'it is decided');
      await scene.live(node, 5);
      assert.equal(scene.control.balanceOf(address, DOLLAR), 0n);
      assert.equal(await wait(), undefined);
    });

    it('stops its payout if a stranger swept it to our account, until an operator decides', async () => {
      scene = await openRefundScene({ screening });
      const node = await scene.newNode();
      const destination = scene.payers.newAccount();
      await scene.register(destination);
      const deposit = await scene.deposit({ lifeMs: 5 * 60_000, isHeld: true });
      scene.pass(16 * 60_000);
      await scene.live(node, 3);
      const listed = scene.payers.newAccount();
      hits.add(`${scene.network}:${listed}`);
      deposit.send(2_000_000n, { from: listed });
      await scene.live(node, 4);
      sweepAsStranger(deposit);
      await scene.live(node, 5);
      scene.pass(10 * 60_000);
      await scene.live(node, 3);
      assert.equal(scene.control.balanceOf(destination, DOLLAR), 0n);
      assert.equal(scene.control.balanceOf(scene.intermediate, DOLLAR), 1_999_990n);
      const search = (isListed: boolean) =>
        searchUnexpected(
          { ...scene, sweepFrom: () => 1n },
          { paymentId: deposit.id, network: scene.network, isSweep: true, isListed, actor: 'Ada' },
        );
      const { found, isOrdered } = await search(false);
      assert.deepEqual([found.map(({ fate, units }) => `${fate} ${units}`), isOrdered], [['held 1999990'], false]);
      assert.equal((await search(true)).isOrdered, true);
      scene.pass(10 * 60_000);
      await scene.live(node, 5);
      assert.equal(scene.control.balanceOf(destination, DOLLAR), 1_999_990n);
      assert.deepEqual(await scene.differences(), []);
    });

    it('stops the sweep until an operator lets the address be swept, which is in the audit log', async () => {
      scene = await openRefundScene({ screening });
      const { node, id, address, item } = await paidBeside(1_000_000n);
      assert.equal(scene.control.balanceOf(address, DOLLAR), 1_001_000n);
      const search = (isListed: boolean) =>
        searchUnexpected(
          { ...scene, sweepFrom: () => 1n },
          { paymentId: id, network: scene.network, isSweep: true, isListed, actor: 'Ada' },
        );
      const { found, isOrdered } = await search(false);
      assert.deepEqual([found[0]?.fate, isOrdered], ['listed', false]);
      await scene.live(node, 3);
      assert.equal(scene.control.balanceOf(address, DOLLAR), 1_001_000n);
      assert.equal((await search(true)).isOrdered, true);
      await scene.live(node, 5);
      assert.equal(scene.control.balanceOf(address, DOLLAR), 0n);
      assert.equal(scene.control.balanceOf(item.recipient, DOLLAR), 1_000_990n);
      const [entry] = await scene.db.sql`
        select actor, detail ->> 'isListed' as "isListed" from audit_log where action = 'stray.swept'`;
      assert.deepEqual(entry, { actor: 'Ada', isListed: 'true' });
      assert.deepEqual(await scene.differences(), []);
    });
  });

  /** The blocks that are asked for transfers to addresses. While `isSilent` answers yes, the endpoints do not answer. */
  function readings(isSilent: (from: number) => boolean = () => false) {
    const { incoming } = scene.chain.reader;
    const ranges: { from: number; to: number }[] = [];
    Object.assign(scene.chain.reader, {
      incoming: async (...input: Parameters<typeof incoming>) => {
        const [accounts, from, to] = input;
        if (accounts.has(scene.intermediate)) return incoming(...input);
        if (isSilent(from)) throw new ChainUnavailableError(scene.network, 'it does not answer');
        ranges.push({ from, to });
        return incoming(...input);
      },
    });
    return ranges;
  }

  it('has no lot by its sweep alone: the lot of the transfer, which is read later, would replace it after it was spent', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const { id, item, send } = await scene.deposit({ isHeld: true });
    await scene.live(node, 2);
    let isSilent = true;
    readings(() => isSilent);
    const lotsOf = async () => (await scene.lots(id)).map(({ id: lot, net }) => [lot.endsWith('/swept'), net]);
    send(1_000n);
    scene.control.mine();
    scene.control.relayAsStranger([{ item, commitment: '', signature: '0x', hasCode: false }]);
    scene.control.mine(3);
    await assert.rejects(node.watch(), ChainUnavailableError);
    const [decided] = await scene.db.sql`select from chain_events where type = 'swept' and decided_at is not null`;
    assert.ok(decided, 'the sweep was read');
    assert.deepEqual(await lotsOf(), []);
    isSilent = false;
    await scene.live(node, 3);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await lotsOf(), [[false, 990n]]);
    assert.deepEqual(await scene.differences(), []);
  });

  it('is read in pages after an outage of a month: each is stored, and a failure goes on from the last one', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const { id, send } = await scene.deposit();
    await scene.live(node, 2);
    const { number: first } = await scene.chain.reader.head();
    let isSilent: (from: number) => boolean = () => true;
    const ranges = readings((from) => isSilent(from));
    const tryToWatch = () => node.watch().catch((error: unknown) => assert.ok(error instanceof ChainUnavailableError));
    send(1_000n);
    scene.control.mine(3_000);
    // The blocks themselves are read meanwhile, so that all of them are to be read for transfers afterwards.
    for (let round = 0; round < 8; round += 1) await tryToWatch();
    assert.deepEqual(ranges, []);
    isSilent = (from) => from > first + 1_200;
    await tryToWatch();
    const before = ranges.splice(0);
    const last = Math.max(...before.map(({ to }) => to));
    assert.ok(last > first + 500, JSON.stringify(before));
    isSilent = () => false;
    await scene.live(node, 2);
    for (const { from, to } of [...before, ...ranges]) assert.ok(to - from < 500, `${from} to ${to}`);
    assert.ok(ranges.length >= 3 && ranges.every(({ from }) => from > last), JSON.stringify({ last, ranges }));
    assert.equal(await scene.status(id), 'succeeded', 'its money was in the first page');
  });

  it('does not count as if it had come in time when it is late and its transfer is not read yet', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const deposit = await scene.deposit({ lifeMs: 5 * 60_000 });
    await scene.live(node, 2);
    let isSilent = true;
    readings(() => isSilent);
    scene.pass(16 * 60_000);
    scene.control.mine(700);
    deposit.send(1_000n);
    scene.control.mine();
    sweepAsStranger(deposit);
    scene.control.mine(3);
    for (let round = 0; round < 4; round += 1) await node.watch().catch(() => {});
    isSilent = false;
    await scene.live(node, 3);
    assert.equal(await scene.status(deposit.id), 'expired');
    const [late] = await scene.db.sql`select reason, amount::text from strays where payment_id = ${deposit.id}`;
    assert.deepEqual(late, { reason: 'late', amount: '1000' });
    assert.deepEqual(await scene.differences(), []);
  });

  it('is not looked for in blocks of a quiet month, in which nobody had an address', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    await scene.deposit({ lifeMs: 5 * 60_000 });
    await scene.live(node, 2);
    scene.pass(31 * 86_400_000);
    scene.control.mine(3_000);
    await scene.live(node, 1);
    const ranges = readings();
    const { number } = await scene.chain.reader.head();
    const { id, send } = await scene.deposit();
    send(1_000n);
    await scene.live(node, 4);
    assert.equal(await scene.status(id), 'succeeded');
    assert.ok(ranges.length > 0 && ranges.every(({ from }) => from > number - 200), JSON.stringify(ranges));
  });

  it('has one address on two networks as two ways to pay', async () => {
    scene = await openRefundScene(EVERYTHING);
    const { id, item, commitment, address } = await scene.deposit();
    const network = 'eip155:8453';
    const asset = DOLLAR.replace(scene.network, network);
    await command(scene, async (tx, now) => {
      const fields = { commitment, network, address, paymentId: id, asset };
      const itemKey = await depositItemKey(tx, fields);
      const offered = {
        account: `${network}:${address}`,
        quote: null,
        buyerName: '',
        buyerIcon: null,
        state: 'offered',
      } as const;
      const unsigned = { signature: null, hasCode: false, resultsHash: null, hintedHash: null };
      await insertItems(tx, [{ key: itemKey, item: { ...item, network, asset }, ...offered, ...unsigned }], now);
      await insertDeposit(tx, { ...fields, itemKey, mac: depositMac(scene, fields) }, now);
    });
    const [here, there] = [
      await findDeposit(scene.db.sql, { paymentId: id, asset: DOLLAR }),
      await findDeposit(scene.db.sql, { paymentId: id, asset }),
    ];
    assert.deepEqual([here?.commitment, there?.commitment], [commitment, commitment]);
    assert.deepEqual([here?.item.network, there?.item.network], [scene.network, network]);
  });

  it('is refunded at an address that another network has, too', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    await scene.live(node, 1);
    await scene.fill(node, OPERATOR_FLOAT, 5_000n);
    const { id, send } = await scene.deposit({ isHeld: true, isSecond: true });
    const destination = scene.payers.newAccount();
    send(1_000n);
    await scene.live(node, 6);
    assert.equal(await scene.status(id), 'succeeded');
    const id10 = `${scene.network}:${destination}`;
    await scene.request(id, {
      destination: { chainId: scene.network, namespace: 'eip155', address: destination, id: id10 },
    });
    await scene.live(node, 6);
    assert.deepEqual(
      (await scene.alerts()).filter((alert) => alert.startsWith('outgoing_refused')),
      [],
    );
    assert.ok(scene.control.balanceOf(destination, DOLLAR) > 0n);
  });

  for (const token of [DOLLAR, TETHER]) {
    it(`that a deep reorganisation removes before its sweep leaves no order behind (${token === DOLLAR ? 'asked' : 'another'} token)`, async () => {
      scene = await openRefundScene({ ...EVERYTHING, depth: 2 });
      const node = await scene.newNode();
      await scene.live(node, 1);
      const { id, send } = await scene.deposit({ isHeld: true });
      const { number: before } = await scene.chain.reader.head();
      const arrival = send(1_000n, { token });
      const sweeps = () =>
        scene.db.sql<{ state: string; reason: string | null }[]>`
          select state, end_reason as reason from items where subject = ${id} and purpose = 'sweep'`;
      for (let turn = 0; (await sweeps()).length === 0; turn += 1) {
        assert.ok(turn < 8, 'a sweep is ordered');
        await scene.live(node, 1);
      }
      const { number } = await scene.chain.reader.head();
      scene.control.reorg(number - before, { drop: [arrival], length: number - before + 1 });
      await scene.live(node, 12);
      assert.deepEqual(
        (await sweeps()).map(({ state, reason }) => `${state} ${reason}`),
        ['unpaid removed'],
      );
    });
  }

  it('that a deep reorganisation removes before its payout is signed ends the payout, and stops nothing else', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    await scene.live(node, 1);
    await scene.fill(node, OPERATOR_FLOAT, 5_000n);
    const { id, send } = await scene.deposit({ isHeld: true });
    const { number: before } = await scene.chain.reader.head();
    const arrival = send(1_000n);
    await scene.live(node, 6);
    const destination = scene.payers.newAccount();
    await scene.register(destination);
    await payOutHeld({ ...scene, sweepFrom: () => 0n });
    assert.equal((await scene.payout(id))?.state, 'sending');
    const { number } = await scene.chain.reader.head();
    scene.control.reorg(number - before, { drop: [arrival], length: number - before + 1 });
    // It is checked again five seconds after the endpoints could not show its money.
    await scene.live(node, 10);
    const [ended] = await scene.db.sql<{ state: string; problem: string }[]>`
      select state, problem from outgoing where purpose = 'payout'`;
    assert.deepEqual(ended, { state: 'failed', problem: 'not_held' });
    assert.deepEqual(
      (await scene.alerts()).filter((alert) => alert.startsWith('outgoing_refused')),
      [],
    );
    send(1_000n);
    await scene.live(node, 6);
    await scene.db.sql`update lots set retry_at = null`;
    await payOutHeld({ ...scene, sweepFrom: () => 0n });
    await scene.live(node, 6);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
    assert.equal((await balances(DOLLAR))[ACCOUNTS.missing(scene.intermediate)] ?? 0n, 0n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('is not unexpected because its events were read in blocks that a reorganisation has replaced', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    await scene.live(node, 1);
    const { number: before } = await scene.chain.reader.head();
    const other = scene.transfer({ from: scene.payers.newAccount(), units: 5n });
    await scene.live(node, 4);
    const { send } = await scene.deposit({ isHeld: true });
    send(1_000n);
    await scene.live(node, 6);
    const { number } = await scene.chain.reader.head();
    scene.control.reorg(number - before, { drop: [other], length: number - before + 1 });
    // The search is behind, and comes before the watcher.
    await scene.db.sql`update account_cursors set block_number = ${before}`;
    await recordUnexpectedTransfers(scene, scene.connected);
    await scene.live(node, 6);
    const found = await scene.db.sql`select from strays where amount = 990`;
    assert.equal(found.length, 0);
    assert.equal((await balances(DOLLAR))[ACCOUNTS.payable(scene.merchantId)], 990n);
  });

  it('leaves a debt if a deep reorganisation takes it after its payout, which the same money fills', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    const destination = scene.payers.newAccount();
    await scene.register(destination);
    const { id, send } = await scene.deposit({ isHeld: true });
    send(1_000n);
    await scene.live(node, 6);
    assert.equal((await scene.payout(id))?.state, 'paid');
    const { number } = await scene.chain.reader.head();
    scene.control.reorg(number - 1, { transactions: 'dropped', length: number });
    await scene.live(node, 2);
    const alerts = await scene.db.sql<{ name: string }[]>`select name from alerts where subject = ${id}`;
    assert.ok(
      alerts.some(({ name }) => name === 'deep_reorg'),
      'it is not silent',
    );
    assert.ok(((await balances(DOLLAR))[ACCOUNTS.payable(scene.merchantId)] ?? 0n) >= 0n);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 0n, 'the payout has left the chain, too');
    send(1_000n);
    await scene.live(node, 12);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n, 'it is paid out once');
    assert.equal((await balances(DOLLAR))[ACCOUNTS.missing(scene.intermediate)] ?? 0n, 0n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('that a deep reorganisation removes after its payout, which stays, is missing and frozen until it comes again', async () => {
    scene = await openRefundScene(EVERYTHING);
    const node = await scene.newNode();
    await scene.live(node, 1);
    await scene.fill(node, OPERATOR_FLOAT, 5_000n);
    const destination = scene.payers.newAccount();
    await scene.register(destination);
    const { id, address, send } = await scene.deposit({ isHeld: true });
    const { number: before } = await scene.chain.reader.head();
    const arrival = send(1_000n);
    await scene.live(node, 6);
    assert.equal((await scene.payout(id))?.state, 'paid');
    const paidOut = scene.control.balanceOf(destination, DOLLAR);
    const missing = ACCOUNTS.missing(scene.intermediate);
    const { number } = await scene.chain.reader.head();
    // The payout is mined again, from the money of others.
    scene.control.reorg(number - before, { drop: [arrival], length: number - before + 1 });
    assert.equal(scene.control.balanceOf(address, DOLLAR), 0n);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), paidOut);
    await scene.live(node, 3);
    await checkSolvency(scene, scene.connected);
    const lacking = await balances(DOLLAR);
    assert.equal(lacking[missing], -paidOut);
    assert.equal(lacking[ACCOUNTS.float(OPERATOR_FLOAT)], 5_000n, 'nobody else has lost anything in the books');
    assert.equal(await scene.status(id), 'succeeded');
    const raised = (await scene.alerts()).filter((alert) => /^(deep_reorg|money_missing|shortfall)/.test(alert));
    assert.deepEqual(raised.toSorted(), [`deep_reorg ${id}`, `money_missing ${DOLLAR}`, `shortfall ${DOLLAR}`]);
    // The payer sends it again: it fills the debt, and nothing is paid out twice.
    send(1_000n);
    await scene.live(node, 6);
    await checkSolvency(scene, scene.connected);
    assert.equal((await balances(DOLLAR))[missing] ?? 0n, 0n);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), paidOut);
    assert.deepEqual(await listFreezes(scene.db.sql), []);
  });
});
