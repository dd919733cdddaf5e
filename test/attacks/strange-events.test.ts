import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { getContractAddress, type Hex } from 'viem';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { freeze } from '../../src/actions/parties/freeze.ts';
import { ChainUnavailableError } from '../../src/chains/chain-errors.ts';
import { COLLECTOR_ADDRESS, encodeBatch } from '../../src/chains/evm/collector.ts';
import { idBytes, payoutIdOf, refundIdOf } from '../../src/domain/ids.ts';
import { SANDBOX_ACCOUNTS } from '../../src/sandbox/genesis.ts';
import { listFreezes } from '../../src/store/parties/freezes.ts';
import { type FaultScene, openFaultScene } from '../faults/fault-scene.ts';
import { AMOUNT, tokenOf, USDC, WITHIN } from '../faults/shopper.ts';
import { until } from '../until.ts';

/** A contract that answers every call with the number one: a token that lets anybody take anything from anybody. */
const ANY_TOKEN = '0x6760015f5260205ff35f5260086018f3';
const FLOOD_GAS = 16_000_000n;
/** Questions about single events and transactions. */
const READS: readonly string[] = ['eth_getLogs', 'eth_getTransactionReceipt', 'eth_getTransactionByHash'];
const OTHER_HALF = '5e'.repeat(16);

describe('a stranger with a token of their own', () => {
  let scene: FaultScene;
  let token: Hex;
  let stranger: ReturnType<FaultScene['chain']['newPayer']>;
  before(async () => {
    scene = await openFaultScene({ endpoints: 2, payers: 8, paysOut: true });
    stranger = scene.chain.newPayer();
    token = getContractAddress({ from: stranger.address, nonce: BigInt(await nonceOf(stranger.address)) });
    await scene.chain.carryOut(stranger, { data: ANY_TOKEN });
  });
  afterEach(() => scene.answerTruthfully());
  after(() => scene.close());

  const nonceOf = async (account: Hex) =>
    Number(await scene.chain.request('eth_getTransactionCount', account, 'latest'));
  const freezes = async () => (await listFreezes(scene.sql)).map(({ scope, subject }) => `${scope} ${subject}`);

  let items = 0;
  /** An item of that account in the stranger's token. */
  function itemOf(payer: string, id?: string) {
    items += 1;
    const head = id === undefined ? '5a'.repeat(16) : Buffer.from(idBytes(id)).toString('hex');
    return {
      subject: `0x${head}${OTHER_HALF}` as Hex,
      payer: payer as Hex,
      amount: AMOUNT,
      fee: 0n,
      recipient: stranger.address,
      deadline: Math.floor(Date.now() / 1_000) + 86_400 + items,
      signature: `0x${'00'.repeat(64)}` as Hex,
    };
  }
  /** Has the Collector report these items as paid, in one transaction, and returns its hash. */
  function carryOut(batch: readonly ReturnType<typeof itemOf>[]): Promise<Hex> {
    const how = { kind: 'eip3009-vrs', token, feeAccount: stranger.address, allowance: 40_000 } as const;
    return scene.chain.carryOut(
      stranger,
      { to: COLLECTOR_ADDRESS, data: encodeBatch({ ...how, items: batch }) },
      FLOOD_GAS,
    );
  }
  /** The Collector reports a payment by that account, and the watcher decides about it. */
  async function report(payer: string, id?: string): Promise<void> {
    const hash = await carryOut([itemOf(payer, id)]);
    await until(
      'the event is decided',
      async () => {
        await scene.chain.mine();
        const rows = await scene.sql`
          select from chain_events where transaction_hash = ${hash} and type = 'paid' and decided_at is not null`;
        return rows.length > 0;
      },
      WITHIN,
    );
  }

  /** A held payment is paid out to the merchant's account. */
  async function isPaidOut(meanwhile: (id: string) => Promise<void> = async () => {}): Promise<void> {
    const payment = await scene.shopper.pay({ isHeld: true });
    await scene.shopper.reaches(payment, 'succeeded');
    await meanwhile(payment.id);
    await scene.shopper.register(payment.merchant, USDC);
    await until(
      'it has arrived',
      async () => {
        await scene.chain.mine();
        return (await scene.chain.balanceOf(tokenOf(USDC), payment.merchant.recipient)) === AMOUNT;
      },
      WITHIN,
    );
  }

  it('freezes nothing by events that name our accounts as payers', async () => {
    for (const account of [scene.relayer, SANDBOX_ACCOUNTS.intermediate]) await report(account);
    assert.deepEqual(await freezes(), []);
    await isPaidOut();
  });

  it('stops no payout by an event with its id', async () => {
    await isPaidOut((id) => report(SANDBOX_ACCOUNTS.intermediate, payoutIdOf(id)));
  });

  it('makes endpoints be asked no more often by 700 events in one transaction', async () => {
    const paid = await scene.shopper.pay();
    await scene.shopper.reaches(paid, 'succeeded');
    const asked = () =>
      scene.proxies.flatMap(({ calls }) => calls).filter(({ method }) => READS.includes(method)).length;
    for (const name of [scene.relayer, stranger.address]) {
      const before = asked();
      const id = refundIdOf(paid.id, 1);
      await carryOut(Array.from({ length: 700 }, () => itemOf(name, id)));
      const payment = await scene.shopper.pay();
      await scene.shopper.reaches(payment, 'succeeded');
      await until(
        'all are decided',
        async () => (await scene.sql`select from chain_events where decided_at is null limit 1`).length === 0,
        WITHIN,
      );
      assert.ok(asked() - before < 100, `${asked() - before} questions`);
    }
  });

  it('keeps no freeze from being lifted by a rebuild', async () => {
    await report(scene.relayer);
    const { gateway, chains } = scene.node;
    await freeze(gateway, { scope: 'restored', subject: scene.network, reason: 'restored', actor: 'operator' });
    const connected = chains.find(scene.network);
    assert.ok(connected);
    // An endpoint may be a moment behind. A person would run the command again.
    let rebuilt: Awaited<ReturnType<typeof rebuild>>;
    const isRebuilt = async () => {
      try {
        rebuilt = await rebuild(gateway, connected, { from: 0 });
        return true;
      } catch (error) {
        if (error instanceof ChainUnavailableError) return false;
        throw error;
      }
    };
    await until('the endpoints show the same blocks', isRebuilt, WITHIN);
    assert.deepEqual([rebuilt?.unplaced, rebuilt?.isLifted], [[], true]);
    assert.deepEqual(await freezes(), []);
    await isPaidOut();
  });
});
