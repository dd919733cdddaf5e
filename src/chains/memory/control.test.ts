import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { SANDBOX_ASSETS } from '../../../test/chains/sandbox-assets.ts';
import { signerFromKey } from '../../../test/chains/signer.ts';
import { findNetwork } from '../../../test/registry.ts';
import { newId } from '../../domain/ids.ts';
import type { Item, SignedItem } from '../../domain/item.ts';
import { ChainUnavailableError } from '../chain-errors.ts';
import { COLLECTOR_ADDRESS } from '../evm/collector.ts';
import { type Fees, offerOf } from '../evm/offer.ts';
import { createMemoryChain, type MemoryChain } from './memory-chain.ts';

const RELAYER = signerFromKey(`0x${'a1'.repeat(32)}`);
const PAYER_KEY = `0x${'b1'.repeat(32)}` as const;
const PAYER = signerFromKey(PAYER_KEY).address;
const RECIPIENT = '0x00000000000000000000000000000000000000A1';
const ASSET = SANDBOX_ASSETS['eip3009-vrs'];

/** A chain with a relayer who has coin and a payer who has 5,000. */
function newChain(options: { isAutoMining?: boolean; clock?: { nowMs(): number } } = {}): MemoryChain {
  const network = findNetwork('eip155:31337');
  if (network === undefined) throw new Error('The sandbox is not a known network');
  const { clock, isAutoMining = false } = options;
  const made = createMemoryChain({ network, isAutoMining, ...(clock === undefined ? {} : { world: { clock } }) });
  made.control.setBalance(RELAYER.address, SANDBOX_ASSETS.native, 10n ** 20n);
  made.control.setBalance(PAYER, ASSET, 5_000n);
  return made;
}

function newItem(serial: number, terms: Partial<Item> = {}): Item {
  return {
    network: 'eip155:31337',
    collector: COLLECTOR_ADDRESS,
    asset: ASSET,
    method: 'eip3009-vrs',
    subject: newId('pay_', serial, new Uint8Array(10)),
    seal: serial.toString(16).padStart(64, '0'),
    payer: PAYER,
    recipient: RECIPIENT,
    feeAccount: '0x00000000000000000000000000000000000000Fe',
    amount: 1_000n,
    fee: 0n,
    deadlineS: Date.UTC(2030, 0, 1) / 1000,
    ...terms,
  };
}

async function sign({ chain }: MemoryChain, item: Item): Promise<SignedItem> {
  const action = chain.payerSide.walletActions(item, 2n ** 256n - 1n).at(-1);
  const signature = await privateKeyToAccount(PAYER_KEY).signTypedData(JSON.parse(String(action?.params[1])));
  return { item, commitment: chain.payerSide.commitmentOf(item), signature, hasCode: false };
}

async function signBatch(made: MemoryChain, item: Item, { nonce = 0, fees }: { nonce?: number; fees?: Fees } = {}) {
  const offer = fees === undefined ? await made.chain.sender.suggestOffer() : offerOf(fees);
  return made.chain.sender.signBatch(RELAYER, [await sign(made, item)], { slot: nonce, offer });
}

const stateOf = async ({ chain }: MemoryChain, hash: string) => (await chain.sender.findTransaction(hash)).is;

describe('the fate of a broadcast', () => {
  it('can be that the transaction is taken and the answer lost', async () => {
    const made = newChain();
    const { hash, bytes } = await signBatch(made, newItem(1));
    made.control.broadcasts('answer_lost');
    await assert.rejects(made.chain.sender.broadcast(bytes), ChainUnavailableError);
    assert.equal(await stateOf(made, hash), 'pending');
    assert.equal(await made.chain.sender.broadcast(bytes), 'known');
  });

  it('can be that it never arrives, or is accepted and forgotten', async () => {
    const made = newChain();
    const { hash, bytes } = await signBatch(made, newItem(1));
    made.control.broadcasts('lost');
    made.control.broadcasts('forgotten');
    await assert.rejects(made.chain.sender.broadcast(bytes), ChainUnavailableError);
    assert.equal(await made.chain.sender.broadcast(bytes), 'accepted');
    assert.equal(await stateOf(made, hash), 'unknown');
    assert.equal(await made.chain.sender.broadcast(bytes), 'accepted');
    assert.equal(await stateOf(made, hash), 'pending');
  });

  it('can be that it is seen later', async () => {
    const made = newChain({ isAutoMining: true });
    const { hash, bytes } = await signBatch(made, newItem(1));
    made.control.broadcasts('held');
    assert.equal(await made.chain.sender.broadcast(bytes), 'accepted');
    assert.equal(await stateOf(made, hash), 'unknown');
    made.control.releaseBroadcasts();
    assert.equal(await stateOf(made, hash), 'mined');
  });

  it('can be that a strict node wants the nonces in order', async () => {
    const made = newChain();
    made.control.setStrictNonces(true);
    const first = await signBatch(made, newItem(1));
    const second = await signBatch(made, newItem(2), { nonce: 1 });
    assert.equal(await made.chain.sender.broadcast(second.bytes), 'slot_early');
    assert.equal(await made.chain.sender.broadcast(first.bytes), 'accepted');
    assert.equal(await made.chain.sender.broadcast(second.bytes), 'accepted');
  });
});

describe('the mempool', () => {
  it('keeps a transaction that offers less than the price until the price falls', async () => {
    const made = newChain();
    const { hash, bytes } = await signBatch(made, newItem(1));
    made.control.spikeGas(100n);
    await made.chain.sender.broadcast(bytes);
    made.control.mine(3);
    assert.equal(await stateOf(made, hash), 'pending');
    made.control.setFees({ base: 1n });
    made.control.mine();
    assert.equal(await stateOf(made, hash), 'mined');
  });

  it('forgets a transaction that was evicted, and takes it again', async () => {
    const made = newChain();
    const { hash, bytes } = await signBatch(made, newItem(1));
    await made.chain.sender.broadcast(bytes);
    made.control.evict(hash);
    assert.equal(await stateOf(made, hash), 'unknown');
    assert.throws(() => made.control.evict(hash));
    assert.equal(await made.chain.sender.broadcast(bytes), 'accepted');
  });

  it('asks a tenth more of a replacement', async () => {
    const made = newChain();
    const fees = { max: 10_000_000_000n, tip: 1_000_000_000n };
    const offer = (percent: bigint) => ({ max: (fees.max * percent) / 100n, tip: (fees.tip * percent) / 100n });
    const item = newItem(1);
    await made.chain.sender.broadcast((await signBatch(made, item, { fees })).bytes);
    const low = await signBatch(made, item, { fees: offer(109n) });
    const high = await signBatch(made, item, { fees: offer(110n) });
    assert.equal(await made.chain.sender.broadcast(low.bytes), 'underpriced');
    assert.equal(await made.chain.sender.broadcast(high.bytes), 'accepted');
    assert.deepEqual(made.control.pending(), [high.hash]);
  });
});

describe('a reorg', () => {
  it('keeps the decrees of the script, in their order among the transactions', async () => {
    const made = newChain({ isAutoMining: true });
    made.control.mine();
    const { hash, bytes } = await signBatch(made, newItem(1));
    await made.chain.sender.broadcast(bytes);
    made.control.setBalance(PAYER, ASSET, 0n);
    made.control.reorg(2);
    assert.equal(await stateOf(made, hash), 'mined');
    assert.equal(made.control.balanceOf(RECIPIENT, ASSET), 1_000n);
    assert.equal(made.control.balanceOf(PAYER, ASSET), 0n);
  });

  it('puts transactions back into the mempool, and drops those that are named', async () => {
    const made = newChain({ isAutoMining: true });
    const first = await signBatch(made, newItem(1));
    const second = await signBatch(made, newItem(2), { nonce: 1 });
    for (const { bytes } of [first, second]) await made.chain.sender.broadcast(bytes);
    made.control.reorg(2, { transactions: 'pending', drop: [first.hash] });
    assert.equal(await stateOf(made, first.hash), 'unknown');
    assert.equal(await stateOf(made, second.hash), 'pending');
    made.control.mine();
    assert.equal(await stateOf(made, second.hash), 'pending');
    await made.chain.sender.broadcast(first.bytes);
    assert.equal(await stateOf(made, second.hash), 'mined');
    assert.equal(made.control.balanceOf(RECIPIENT, ASSET), 2_000n);
  });

  it('keeps the possible transactions when an earlier nonce is dropped', async () => {
    const made = newChain({ isAutoMining: true });
    const first = await signBatch(made, newItem(1));
    const second = await signBatch(made, newItem(2), { nonce: 1 });
    for (const { bytes } of [first, second]) await made.chain.sender.broadcast(bytes);
    made.control.reorg(2, { drop: [first.hash], length: 3 });
    assert.equal((await made.chain.reader.head()).number, 3);
    assert.equal(await stateOf(made, first.hash), 'unknown');
    assert.equal(await stateOf(made, second.hash), 'pending');
  });
});

describe('strangers', () => {
  it('go on after a reorg has dropped one of their transactions', async () => {
    const made = newChain({ isAutoMining: true });
    const first = made.control.emitLookAlike(newItem(1));
    const second = made.control.emitLookAlike(newItem(2));
    made.control.reorg(2, { drop: [first] });
    assert.equal(await stateOf(made, second), 'pending');
    const third = made.control.emitLookAlike(newItem(3));
    for (const hash of [second, third]) assert.equal(await stateOf(made, hash), 'mined');
  });
});

describe('endpoints that fail and lie', () => {
  it('fail for the next calls, for some methods, or altogether', async () => {
    const { chain, control } = newChain();
    control.failNext('head', 2);
    await assert.rejects(chain.reader.head(), ChainUnavailableError);
    await assert.rejects(chain.reader.head(), ChainUnavailableError);
    await chain.reader.head();
    control.goDown('survey', 'judge');
    await assert.rejects(chain.payerSide.judge(newItem(1), '0x'), ChainUnavailableError);
    await chain.reader.head();
    control.comeBack();
    await chain.payerSide.judge(newItem(1), '0x');
    control.goDown();
    assert.equal(chain.health().endpointsUp, 0);
    await assert.rejects(chain.reader.balance(PAYER), ChainUnavailableError);
  });

  it('let a script step in before every answer', async () => {
    const { chain, control } = newChain();
    const asked: string[] = [];
    control.intercept((method) => {
      asked.push(method);
      if (method === 'balance') throw new ChainUnavailableError('eip155:31337', 'scripted');
    });
    await chain.reader.head();
    await assert.rejects(chain.reader.balance(PAYER), /scripted/);
    control.intercept(undefined);
    await chain.reader.balance(PAYER);
    assert.deepEqual(asked, ['head', 'balance']);
  });

  it('lag behind, name wrong hashes, disagree, lose events once and invent some', async () => {
    const made = newChain({ isAutoMining: true });
    const { chain, control } = made;
    await chain.sender.broadcast((await signBatch(made, newItem(1))).bytes);
    control.mine(3);
    const truth = await chain.reader.head();
    const [event] = await chain.reader.events(0, 4);
    assert.ok(event);

    control.lie({ headLag: 2 });
    assert.equal((await chain.reader.head()).number, truth.number - 2);
    assert.equal(await chain.reader.block(truth.number), undefined);
    await assert.rejects(chain.reader.events(0, truth.number), ChainUnavailableError);
    await assert.rejects(chain.reader.isUsed(newItem(1), '0x00', truth.number), ChainUnavailableError);

    control.beHonest();
    control.lie({ wrongHashAt: truth.number, isDisagreeing: true, emptyEvents: 1 });
    assert.notEqual((await chain.reader.block(truth.number))?.hash, truth.hash);
    assert.notEqual((await chain.reader.witnesses()[0]?.block(truth.number))?.hash, truth.hash);
    assert.deepEqual(await chain.reader.events(0, 4), []);
    assert.deepEqual(await chain.reader.events(0, 4), [event]);

    control.beHonest();
    control.lie({ inventedEvents: [{ ...event, commitment: '0x00' }] });
    assert.deepEqual(
      (await chain.reader.events(0, 4)).map(({ commitment }) => commitment),
      [event.commitment, '0x00'],
    );
    control.beHonest();
    assert.deepEqual(await chain.reader.block(truth.number), truth);
  });
});

describe('actions of others on the chain', () => {
  it('a stranger relays the payment first, or makes the Collector refuse it', async () => {
    const made = newChain({ isAutoMining: true });
    const signed = await sign(made, newItem(1));
    const spoilt = {
      ...signed,
      signature: `${signed.signature.slice(0, -2)}${signed.signature.endsWith('1b') ? '1c' : '1b'}`,
    };
    made.control.relayAsStranger([spoilt]);
    made.control.relayAsStranger([signed]);
    const events = await made.chain.reader.events(0, 2);
    assert.deepEqual(
      events.map((event) => [event.type, event.commitment]),
      [
        ['refused', signed.commitment],
        ['paid', signed.commitment],
      ],
    );
  });

  it('the authorization is used elsewhere, without a word of the Collector', async () => {
    const made = newChain({ isAutoMining: true });
    const item = newItem(1);
    const signed = await sign(made, item);
    made.control.useAuthorizationElsewhere(item);
    assert.equal(await made.chain.reader.isUsed(item, signed.commitment), true);
    assert.equal(made.control.balanceOf(PAYER, ASSET), 4_000n);
    assert.deepEqual(await made.chain.reader.events(0, 1), []);
    assert.deepEqual(await made.chain.payerSide.judge(item, signed.signature), { is: 'used' });
  });

  it('a stranger emits a forged event', async () => {
    const made = newChain({ isAutoMining: true });
    const item = newItem(1);
    made.control.emitLookAlike(item, `0x${'77'.repeat(32)}`);
    const [event] = await made.chain.reader.events(0, 1);
    assert.equal(event?.type === 'paid' && event.amount, item.amount);
    assert.equal(await made.chain.reader.isUsed(item, made.chain.payerSide.commitmentOf(item)), false);
  });

  it('the token keeps a part of every transfer, and the item is refused', async () => {
    const made = newChain();
    made.control.setCut(ASSET, 1n);
    const [outcome] = await made.chain.sender.simulate([await sign(made, newItem(1))]);
    assert.deepEqual(outcome, { is: 'refused', reason: 'short_arrival' });
  });

  it('a batch reverts as a whole and still costs its gas', async () => {
    const made = newChain({ isAutoMining: true });
    const before = await made.chain.reader.balance(RELAYER.address);
    made.control.revertNextBatches();
    const { hash, bytes, cost } = await signBatch(made, newItem(1));
    await made.chain.sender.broadcast(bytes);
    const found = await made.chain.sender.findTransaction(hash);
    assert.equal(found.is === 'mined' && found.isReverted && found.coinSpent <= cost && found.coinSpent > 0n, true);
    assert.ok((await made.chain.reader.balance(RELAYER.address)) < before);
    assert.equal(made.control.balanceOf(PAYER, ASSET), 5_000n);
    assert.deepEqual(await made.chain.reader.events(0, 1), []);
  });

  it('the fee account cannot receive, and nothing of the batch is carried out', async () => {
    const made = newChain({ isAutoMining: true });
    const item = newItem(1, { fee: 5n });
    made.control.setBlacklisted(item.feeAccount, ASSET);
    const { hash, bytes } = await signBatch(made, item);
    await made.chain.sender.broadcast(bytes);
    const found = await made.chain.sender.findTransaction(hash);
    assert.equal(found.is === 'mined' && found.isReverted, true);
    assert.equal(made.control.balanceOf(PAYER, ASSET), 5_000n);
  });
});

describe('the chain in memory', () => {
  it('is the same chain again when the script is the same', async () => {
    const play = async () => {
      const made = newChain({ isAutoMining: true });
      await made.chain.sender.broadcast((await signBatch(made, newItem(1))).bytes);
      made.control.emitLookAlike(newItem(2));
      made.control.reorg(1);
      return [await made.chain.reader.head(), await made.chain.reader.events(0, 2)];
    };
    assert.deepEqual(await play(), await play());
  });

  it('dates its blocks by the clock it is given', async () => {
    let nowMs = Date.UTC(2026, 5, 1);
    const { chain, control } = newChain({ clock: { nowMs: () => nowMs } });
    nowMs += 90_000;
    control.mine();
    assert.equal((await chain.reader.head()).timestampS, nowMs / 1000);
    control.mine(1, { timestampS: nowMs / 1000 + 500 });
    control.mine();
    assert.equal((await chain.reader.head()).timestampS, nowMs / 1000 + 500);
  });

  it('reports an asset that differs from our data', async () => {
    const { chain, control } = newChain();
    control.setProblem(ASSET, `${ASSET}: the token has 18 decimals.`);
    const { payable, problems } = await chain.check();
    assert.equal(payable.includes(ASSET), false);
    assert.deepEqual(problems, [{ subject: ASSET, message: `${ASSET}: the token has 18 decimals.` }]);
    control.setProblem(ASSET, undefined);
    assert.equal((await chain.check()).payable.includes(ASSET), true);
  });
});
