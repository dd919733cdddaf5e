import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { returnFloat } from '../../src/actions/outgoing/float/return-float.ts';
import { coverByOperator } from '../../src/actions/outgoing/refund/cover-by-operator.ts';
import { adoptAccount, createAccountCheck, ownAccounts, rememberAccounts } from '../../src/actions/own-accounts.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { insertOwnAccounts, listOwnAccounts } from '../../src/store/chain/own-accounts.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { listFreezes } from '../../src/store/parties/freezes.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import { signerFromKey } from '../chains/signer.ts';
import { copyDatabase } from '../database-copy.ts';
import { COIN, DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

const NEW = signerFromKey(`0x${'8'.repeat(64)}`);
const NEW_RELAYER = signerFromKey(`0x${'9'.repeat(64)}`);

describe('accounts that were ever ours', () => {
  let scene: RefundScene;
  let node: TestNode;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
    await node.turn();
    await scene.payOut();
  });
  afterEach(() => scene.close());

  /** The settings name other accounts. The next node starts with them. */
  function configure() {
    const accounts = { intermediateAccount: NEW.address, intermediateSigner: NEW, relayers: [NEW_RELAYER] };
    Object.assign(scene.connected, accounts);
  }
  const unexpectedMoney = () => listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
  const moveByHand = (units: bigint) => {
    scene.control.setBalance(scene.intermediate, DOLLAR, scene.control.balanceOf(scene.intermediate, DOLLAR) - units);
    return scene.transfer({ from: scene.intermediate, to: NEW.address, units });
  };

  it('are stored at a start, with the network, and stay when others follow', async () => {
    const rows = () => listOwnAccounts(scene.db.sql, scene.network);
    assert.deepEqual(
      (await rows()).map(({ kind, address }) => [kind, address]),
      [
        ['intermediate', scene.intermediate],
        ['relayer', scene.signers[0]?.address],
      ],
    );
    configure();
    scene.pass(1_000);
    await rememberAccounts(scene);
    await rememberAccounts(scene);
    assert.equal((await rows()).length, 4);
    assert.ok((await ownAccounts(scene, scene.connected)).includes(scene.intermediate));
    await assert.rejects(
      command(scene, (tx) => tx`delete from own_accounts`),
      /stays an account of ours/,
    );
  });

  it('are not paid by a transfer among them: it is no unexpected money, and nothing can be returned to the old one', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 50n);
    await adoptAccount(scene, { network: scene.network, address: NEW.address, actor: 'test' });
    configure();
    node = await scene.newNode();
    moveByHand(50n);
    await scene.live(node, 2);
    assert.deepEqual(await unexpectedMoney(), []);
    assert.equal(scene.control.balanceOf(NEW.address, DOLLAR), 50n);
  });

  it('have paid refunds that a database from before the change does not pay twice', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 5_000n);
    await scene.fill(node, scene.merchantId, 5_000n);
    const { id, payer, item } = await scene.paid(node);
    const copy = await copyDatabase(scene.db);
    await scene.request(id);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
    // The account is replaced, and the rest of its money is moved.
    const rest = scene.control.balanceOf(scene.intermediate, DOLLAR);
    moveByHand(rest);
    configure();
    await copy.restore();
    await assert.rejects(scene.newNode(), /the books hold money on .*till accounts adopt/);
    await adoptAccount(scene, { network: scene.network, address: NEW.address, actor: 'test' });
    node = await scene.newNode();
    await node.watch();
    await scene.request(id);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount, 'the refund was paid once');
    assert.deepEqual(
      (await listFreezes(scene.db.sql)).map(({ scope, subject }) => [scope, subject]),
      [['restored', scene.network]],
    );
  });

  it('own what was sent to them by an order before they were ours: it is unexpected money, and not that of the order', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 50n);
    const input = { owner: OPERATOR_FLOAT, asset: DOLLAR, units: 50n, recipient: NEW.address, actor: 'test' };
    const id = await returnFloat(scene, input);
    await scene.live(node);
    const sent = await scene.outgoing(id);
    assert.deepEqual([sent?.state, scene.control.balanceOf(NEW.address, DOLLAR)], ['paid', 50n]);
    configure();
    node = await scene.newNode();
    await scene.live(node, 2);
    assert.equal((await scene.differences())?.length, 1, 'the books do not know it');
    const transactionHash = sent?.transactionHash ?? '';
    await addFloat(scene, { owner: OPERATOR_FLOAT, asset: DOLLAR, transactionHash, actor: 'test' });
    assert.deepEqual([await scene.floats(), await scene.differences()], [{ [OPERATOR_FLOAT]: '50' }, []]);
    await assert.rejects(
      addFloat(scene, { owner: OPERATOR_FLOAT, asset: DOLLAR, transactionHash, actor: 'test' }),
      /before/,
    );
  });

  it('refuse a start with another intermediate account while the books hold money on the stored one', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 50n);
    configure();
    await assert.rejects(rememberAccounts(scene), (error: Error) => {
      assert.equal(error.name, 'OtherIntermediateError');
      assert.match(error.message, new RegExp(`50 of ${DOLLAR} in intermediate/float/operator`));
      assert.match(error.message, /till float return and till strays return/);
      return true;
    });
    assert.equal((await listOwnAccounts(scene.db.sql, scene.network)).length, 2);
    // The operator's word is enough, and is kept.
    scene.pass(1_000);
    await adoptAccount(scene, { network: scene.network, address: NEW.address, actor: 'operator:ann' });
    await rememberAccounts(scene);
    const [audit] = await scene.db.sql<{ actor: string; detail: object }[]>`
      select actor, detail from audit_log where action = 'account.adopted'`;
    assert.deepEqual(audit, {
      actor: 'operator:ann',
      detail: { before: scene.intermediate, after: NEW.address },
    });
  });

  /** Another account is the intermediate account, and the money stays where it is. */
  async function replaceAccount() {
    scene.pass(1_000);
    await adoptAccount(scene, { network: scene.network, address: NEW.address, actor: 'test' });
    configure();
    scene.control.setBalance(NEW_RELAYER.address, COIN, 10n ** 21n);
    node = await scene.newNode();
  }
  const balances = () => [scene.intermediate, NEW.address].map((account) => scene.control.balanceOf(account, DOLLAR));

  it('keep their floats: a refund spends no money of others on the new account before the money was moved', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 50n);
    await scene.fill(node, scene.merchantId, 5_000n);
    const { id, payer, item } = await scene.paid(node);
    await replaceAccount();
    await scene.accept({ isHeld: true, terms: { recipient: NEW.address } });
    await scene.live(node, 3);
    assert.deepEqual(balances(), [5_050n, 990n]);
    await scene.request(id);
    await scene.live(node);
    assert.deepEqual(balances(), [5_050n, 990n], 'the held money of another payment is not spent');
    assert.equal((await scene.refund(id)).state, 'awaiting_funds');
    assert.match(
      (await scene.alertText('refund_awaiting_funds')) ?? '',
      new RegExp(`on the account ${scene.intermediate}`),
    );
    await assert.rejects(
      returnFloat(scene, { owner: OPERATOR_FLOAT, asset: DOLLAR, units: 1n, recipient: payer.address, actor: 'test' }),
      new RegExp(`${scene.intermediate} has the float of operator`),
    );
    moveByHand(5_050n);
    scene.pass(60_000);
    await scene.live(node);
    assert.equal((await scene.refund(id)).state, 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
    assert.deepEqual(balances(), [0n, 5_040n]);
    const moved = await scene.db.sql<{ subject: string }[]>`
      select subject from audit_log where action = 'float.moved' order by subject`;
    assert.deepEqual(
      moved.map(({ subject }) => subject),
      [scene.merchantId, OPERATOR_FLOAT].toSorted(),
    );
    assert.deepEqual(await unexpectedMoney(), []);
  });

  it('pay a refund alone: held money on one account and a float on another are not added', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, scene.merchantId, 300n);
    await replaceAccount();
    const transactionHash = scene.transfer({ from: scene.payers.newAccount(), to: NEW.address, units: 20n });
    await node.turn(2);
    await addFloat(scene, { owner: OPERATOR_FLOAT, asset: DOLLAR, transactionHash, actor: 'test' });
    await scene.request(id);
    await scene.live(node);
    assert.equal((await scene.refund(id)).state, 'awaiting_funds');
    assert.match((await scene.alertText('refund_awaiting_funds')) ?? '', new RegExp(`on the account ${NEW.address}`));
    assert.equal(await scene.outgoing(refundIdOf(id, 1)), undefined);
    const more = scene.transfer({ from: scene.payers.newAccount(), to: NEW.address, units: 5n });
    await node.turn(2);
    await assert.rejects(
      addFloat(scene, { owner: scene.merchantId, asset: DOLLAR, transactionHash: more, actor: 'test' }),
      new RegExp(`is on the account ${scene.intermediate}. Move its money to ${NEW.address}`),
    );
  });

  it('cover a refund with their own floats alone when the operator covers it', async () => {
    const { id } = await scene.paid(node);
    await scene.fill(node, OPERATOR_FLOAT, 50n);
    await scene.fill(node, scene.merchantId, 300n);
    await replaceAccount();
    await scene.request(id);
    await scene.live(node);
    const { refund, missing } = await coverByOperator(scene, { id: refundIdOf(id, 1), actor: 'test' });
    assert.deepEqual([refund.account, refund.fromMerchant, refund.fromOperator], [NEW.address, '0', '1000']);
    assert.deepEqual(missing, { owner: OPERATOR_FLOAT, units: 1_000n, elsewhere: scene.intermediate });
  });

  it('count by a right MAC alone: any other row raises an alert', async () => {
    const { network } = scene;
    const forged = { network, address: NEW.address, kind: 'intermediate', since: new Date(0), mac: 'AAAA' } as const;
    await command(scene, (tx) => insertOwnAccounts(tx, [forged]));
    assert.ok(!(await ownAccounts(scene, scene.connected)).includes(NEW.address));
    await createAccountCheck(scene)();
    const alerts = (await listAlerts(scene.db.sql)).filter(({ name }) => name === 'account_refused');
    assert.deepEqual(
      alerts.map(({ subject }) => subject),
      [`${network}:${NEW.address} intermediate`],
    );
  });
});
