import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { encodeFunctionData, type Hex, parseSignature } from 'viem';
import collector from '../../contracts/artifacts/Collector.json' with { type: 'json' };
import {
  batchGasLimit,
  COLLECTOR_ADDRESS,
  COLLECTOR_INIT_CODE,
  encodeBatch,
  PERMIT2_ADDRESS,
  type SignedItem,
} from '../../src/chains/evm/collector.ts';
import { SANDBOX_ACCOUNTS } from '../../src/sandbox/genesis.ts';
import {
  type CollectorChain,
  commitmentByTheBook,
  createCollectorChain,
  errorSelector,
  FEE_ACCOUNT,
  hex,
  reasonsOf,
  results,
  TOKEN_ABI,
  USDC,
  USDT,
} from './collector-chain.ts';

let chain: CollectorChain;
before(async () => {
  chain = await createCollectorChain();
});
after(() => chain.evm.close());

describe('the Collector', () => {
  it('has no owner, no upgrade and no setting: these functions and no more', () => {
    const entries: readonly { type: string; name?: string }[] = collector.abi;
    const functions = entries.filter(({ type }) => type !== 'error' && type !== 'event');
    assert.deepEqual(
      functions.map(({ name }) => name),
      ['carryOut', 'collectByKey', 'collectByPermit2', 'collectByWallet', 'isPaid', 'pay'],
    );
  });

  it('has an address that follows from its code, which takes no arguments', async () => {
    assert.equal(await chain.rpc('eth_getCode', [COLLECTOR_ADDRESS, 'latest']), collector.deployedBytecode);
    assert.equal(COLLECTOR_INIT_CODE, collector.bytecode);
  });

  it('lets only itself carry out an item without its batch', async () => {
    const item = await chain.item();
    const order = {
      ...{
        chainId: 31337n,
        collector: COLLECTOR_ADDRESS,
        nonceSpace: 1n,
        token: USDC,
        feeAccount: FEE_ACCOUNT,
        ...item,
      },
      ...{ deadline: BigInt(item.deadline), commitment: commitmentByTheBook(item), kind: 0, held: 0n },
    };
    const data = encodeFunctionData({ abi: collector.abi, functionName: 'carryOut', args: [order, item.signature] });
    await assert.rejects(chain.call(COLLECTOR_ADDRESS, data), { data: errorSelector('NotForYou()') });
  });
});

for (const { kind, token, name } of [
  { kind: 'eip3009-vrs', token: USDC, name: 'EIP-3009 by keys' },
  { kind: 'eip3009-bytes', token: USDC, name: 'EIP-3009 with signature bytes' },
  { kind: 'permit2', token: USDC, name: 'Permit2' },
  { kind: 'permit2', token: USDT, name: 'Permit2 with a token that answers nothing' },
] as const) {
  describe(`a batch of ${name}`, () => {
    const nonceSpace = kind === 'permit2' ? 2n : 1n;
    const items = async (...given: Parameters<CollectorChain['item']>[0][]) => {
      const made: SignedItem[] = [];
      for (const one of given) made.push(await chain.item({ kind, token, ...one }));
      return made;
    };

    it('pays every recipient net and the fee account once, and says so in an event each', async () => {
      const batch = await items({ fee: 100_000n }, { fee: 0n }, { amount: 7n, fee: 7n });
      const feesBefore = await chain.balanceOf(token, FEE_ACCOUNT);
      const { receipt, logs } = await chain.collect({ kind, token, items: batch });
      assert.equal(receipt.status, 'success');
      assert.deepEqual(
        logs,
        batch.map(({ signature: _signature, deadline, ...item }) => ({
          type: 'collected',
          commitment: commitmentByTheBook({ ...item, deadline }, { token, nonceSpace }),
          token,
          ...item,
          terms: { nonceSpace, feeAccount: FEE_ACCOUNT, deadline: BigInt(deadline) },
        })),
      );
      const paid = await Promise.all(batch.map(({ recipient }) => chain.balanceOf(token, recipient)));
      assert.deepEqual(paid, [9_900_000n, 10_000_000n, 0n]);
      assert.equal((await chain.balanceOf(token, FEE_ACCOUNT)) - feesBefore, 100_007n);
      const feeTransfers = receipt.logs.filter(({ topics }) => topics[2]?.endsWith(FEE_ACCOUNT.slice(2).toLowerCase()));
      assert.equal(feeTransfers.length, 1);
      assert.equal(await chain.balanceOf(token, COLLECTOR_ADDRESS), 0n);
    });

    it('pays a payer who is the recipient, and takes the fee', async () => {
      const payer = await chain.payer(kind, token);
      const [item] = await items({ payer: payer.address, recipient: payer.address });
      assert.deepEqual(results(await chain.collect({ kind, token, items: [item as SignedItem] })), ['collected']);
      assert.equal(await chain.balanceOf(token, payer.address), 999_900_000n);
    });

    it('may be relayed by anyone', async () => {
      const [item] = await items({});
      const stranger = chain.someone().address;
      await chain.rpc('hardhat_setBalance', [stranger, hex(10n ** 18n)]);
      assert.deepEqual(results(await chain.collect({ kind, token, items: [item as SignedItem] }, { from: stranger })), [
        'collected',
      ]);
    });

    it('refuses an item that was carried out before, in this batch or another', async () => {
      const [item] = await items({});
      const twice = await chain.collect({ kind, token, items: [item as SignedItem, item as SignedItem] });
      assert.deepEqual(results(twice), ['collected', 'used']);
      assert.deepEqual(results(await chain.refusesAlone(item as SignedItem, { kind, token })), [
        'collected',
        'used',
        'collected',
      ]);
    });

    it('carries an item out only as it was signed', async () => {
      const [item] = await items({});
      const { signature, ...signed } = item as SignedItem;
      const other = chain.someone().address;
      const changes: Partial<SignedItem>[] = [
        { recipient: other },
        { fee: signed.fee + 1n },
        { amount: signed.amount - 1n },
        { amount: signed.amount + 1n },
        { deadline: signed.deadline + 1 },
        { subject: chain.newSubject() },
        { payer: (await chain.payer(kind, token)).address },
      ];
      for (const change of changes) {
        const result = await chain.refusesAlone({ ...signed, ...change, signature }, { kind, token });
        assert.deepEqual(
          results(result),
          ['collected', 'wrong_signature', 'collected'],
          JSON.stringify(Object.keys(change)),
        );
      }
      const toOther = await chain.collect({ kind, token, feeAccount: other, items: [item as SignedItem] });
      assert.deepEqual(results(toOther), ['wrong_signature']);
      assert.deepEqual(results(await chain.collect({ kind, token, items: [item as SignedItem] })), ['collected']);
    });

    it('knows no signature for another chain, another Collector or by another key', async () => {
      const elsewhere = await items(
        { chainId: 1 },
        { collector: chain.someone().address },
        { signer: chain.someone() },
      );
      for (const item of elsewhere) {
        assert.deepEqual(results(await chain.refusesAlone(item, { kind, token }))[1], 'wrong_signature');
      }
    });

    it('refuses an item that is late, asks for more than there is, or has a fee above its amount', async () => {
      const [late, poor, greedy] = await items({ deadline: 1_000 }, { amount: 10n ** 15n }, { fee: 10_000_001n });
      assert.equal(results(await chain.refusesAlone(late as SignedItem, { kind, token }))[1], 'late');
      const short = results(await chain.refusesAlone(poor as SignedItem, { kind, token }))[1];
      // Permit2 passes no reason on, and Tether's contract burns all gas instead of giving one.
      const unspoken = token === USDT ? 'out_of_gas' : 'unknown';
      assert.equal(short, kind === 'permit2' ? unspoken : 'short_balance');
      const tooMuch = await chain.refusesAlone(greedy as SignedItem, { kind, token });
      assert.deepEqual(reasonsOf(tooMuch), [errorSelector('FeeAboveAmount()')]);
    });

    it('returns the outcome of a simulation', async () => {
      const [good, late, alsoGood, poor] = await items({}, { deadline: 1_000 }, {}, { amount: 10n ** 15n });
      const batch = { kind, token, items: [good, late, alsoGood, poor] as SignedItem[] };
      const asked = await chain.simulate(batch);
      assert.deepEqual(
        asked.map(({ isCollected }) => isCollected),
        [true, false, true, false],
      );
      const done = await chain.collect(batch);
      assert.deepEqual(
        asked.flatMap((outcome) => (outcome.isCollected ? [] : [outcome.reason])),
        reasonsOf(done),
      );
    });
  });
}

describe('tokens with a blacklist and a pause', () => {
  it('refuse the payer or the recipient alone', async () => {
    const [fromListed, toListed] = [await chain.item(), await chain.item()];
    await chain.callToken(USDC, 'blacklist', [fromListed.payer]);
    await chain.callToken(USDC, 'blacklist', [toListed.recipient]);
    assert.equal(results(await chain.refusesAlone(fromListed))[1], 'payer_blacklisted');
    assert.equal(results(await chain.refusesAlone(toListed))[1], 'recipient_blacklisted');
    await chain.callToken(USDC, 'unBlacklist', [toListed.recipient]);
    assert.deepEqual(results(await chain.collect({ items: [toListed] })), ['collected']);
  });

  it('refuse a payer of USDT alone, who has no words to say why', async () => {
    const item = await chain.item({ kind: 'permit2', token: USDT });
    await chain.callToken(USDT, 'addBlackList', [item.payer]);
    await chain.refusesAlone(item, { kind: 'permit2', token: USDT });
  });

  it('refuse everything while they are paused', async () => {
    const items = [await chain.item(), await chain.item()];
    await chain.callToken(USDC, 'pause', []);
    const paused = await chain.collect({ items });
    await chain.callToken(USDC, 'unpause', []);
    assert.deepEqual(results(paused), ['paused', 'paused']);
    assert.deepEqual(results(await chain.collect({ items })), ['collected', 'collected']);
  });

  it('refuse an authorization that its payer has cancelled', async () => {
    const payer = await chain.payer('eip3009-vrs', USDC);
    const item = await chain.item({ payer: payer.address });
    const nonce = commitmentByTheBook(item);
    const signature = await payer.signTypedData({
      domain: { name: 'USD Coin', version: '2', chainId: 31337, verifyingContract: USDC },
      types: {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message: { authorizer: payer.address, nonce },
    });
    const args = [payer.address, nonce, signature] as const;
    await chain.send({
      to: USDC,
      data: encodeFunctionData({ abi: TOKEN_ABI, functionName: 'cancelAuthorization', args }),
    });
    assert.equal(results(await chain.refusesAlone(item))[1], 'used');
  });

  it('undo the batch as a whole when the fee account cannot be paid', async () => {
    const feeAccount = chain.someone().address;
    await chain.callToken(USDC, 'blacklist', [feeAccount]);
    const items = [await chain.item({ feeAccount }), await chain.item({ feeAccount })];
    await assert.rejects(chain.simulate({ feeAccount, items }), ({ data }: { data: Hex }) =>
      data.startsWith(errorSelector('FeeNotPaid(bytes)')),
    );
    const { receipt, logs } = await chain.collect({ feeAccount, items });
    assert.equal(receipt.status, 'reverted');
    assert.deepEqual(logs, []);
    for (const { payer } of items) assert.equal(await chain.balanceOf(USDC, payer), 1_000_000_000n);
    await chain.callToken(USDC, 'unBlacklist', [feeAccount]);
    assert.deepEqual(results(await chain.collect({ feeAccount, items })), ['collected', 'collected']);
  });
});

describe('unsolicited money on the Collector', () => {
  it('never mixes into an item, and stays where it is', async () => {
    const { payer } = SANDBOX_ACCOUNTS;
    await chain.callToken(USDC, 'transfer', [COLLECTOR_ADDRESS, 12_345n], payer);
    await chain.rpc('hardhat_setBalance', [COLLECTOR_ADDRESS, hex(777n)]);
    const poor = await chain.item({ payer: chain.someone().address, amount: 100n, fee: 0n });
    const good = await chain.item();
    assert.deepEqual(results(await chain.collect({ items: [poor, good] })), ['short_balance', 'collected']);
    assert.equal(await chain.balanceOf(USDC, COLLECTOR_ADDRESS), 12_345n);
    assert.equal(await chain.coinOf(COLLECTOR_ADDRESS), 777n);
    await chain.rpc('hardhat_setBalance', [COLLECTOR_ADDRESS, '0x0']);
  });

  it('is not taken in when it can be refused', async () => {
    const { receipt } = { receipt: await chain.send({ to: COLLECTOR_ADDRESS, data: '0x', value: 1n }) };
    assert.equal(receipt.status, 'reverted');
    const paidBatch = encodeBatch({ kind: 'eip3009-vrs', token: USDC, feeAccount: FEE_ACCOUNT, items: [] });
    assert.equal((await chain.send({ to: COLLECTOR_ADDRESS, data: paidBatch, value: 1n })).status, 'reverted');
  });

  it('cannot be the fee: a batch whose fee account is the Collector reverts', async () => {
    const item = await chain.item({ feeAccount: COLLECTOR_ADDRESS });
    const asked = chain.simulate({ feeAccount: COLLECTOR_ADDRESS, items: [item] });
    await assert.rejects(asked, { data: errorSelector('WrongPayout()') });
  });

  it('is no payer: neither the Collector nor Permit2 can be made to pay', async () => {
    for (const payer of [COLLECTOR_ADDRESS, PERMIT2_ADDRESS]) {
      await chain.callToken(USDC, 'mint', [payer, 10_000_000n]);
      for (const kind of ['eip3009-vrs', 'eip3009-bytes', 'permit2'] as const) {
        const item = await chain.item({ kind, payer, signer: chain.someone() });
        const { logs } = await chain.collect({ kind, items: [item] });
        assert.deepEqual(
          logs.map(({ type }) => type),
          ['refused'],
        );
      }
    }
  });

  it('cannot be paid out to a recipient that is the Collector itself', async () => {
    const item = await chain.item({ recipient: COLLECTOR_ADDRESS });
    const held = await chain.balanceOf(USDC, COLLECTOR_ADDRESS);
    assert.deepEqual(reasonsOf(await chain.collect({ items: [item] })), [errorSelector('WrongPayout()')]);
    assert.equal(await chain.balanceOf(USDC, COLLECTOR_ADDRESS), held);
  });
});

describe('gas and form', () => {
  it('lets no item start with less than its allowance: whatever the gas, the batch works or reverts whole', async () => {
    const items = [await chain.item(), await chain.item(), await chain.item()];
    const enough = batchGasLimit('eip3009-vrs', items.length);
    let reverts = 0;
    for (let gas = enough; gas > 40_000; gas -= 7_001) {
      const asked = await chain.simulate({ items }, gas).catch(() => 'reverted' as const);
      if (asked === 'reverted') reverts += 1;
      else assert.deepEqual(new Set(asked.map(({ isCollected }) => isCollected)), new Set([true]), `with ${gas} gas`);
    }
    assert.ok(reverts > 20);
    const starved = await chain.collect({ items }, { gas: 330_000 });
    assert.equal(starved.receipt.status, 'reverted');
    assert.deepEqual(results(await chain.collect({ items })), ['collected', 'collected', 'collected']);
  });

  it('takes signatures of 64 bytes and of 65, with v from 27 or from 0', async () => {
    const items: SignedItem[] = [];
    for (let count = 0; count < 6; count += 1) {
      const item = await chain.item();
      const { r, s, yParity } = parseSignature(item.signature);
      const plain = `${r}${s.slice(2)}` as Hex;
      items.push({ ...item, signature: count % 2 === 0 ? item.signature : `${plain}0${yParity}` });
    }
    assert.deepEqual(new Set(results(await chain.collect({ items }))), new Set(['collected']));
  });

  it('reverts whole when a batch is cut off', async () => {
    const data = encodeBatch({
      kind: 'eip3009-vrs',
      token: USDC,
      feeAccount: FEE_ACCOUNT,
      items: [await chain.item()],
    });
    await assert.rejects(chain.call(COLLECTOR_ADDRESS, data.slice(0, -2) as Hex), {
      data: errorSelector('MalformedItem()'),
    });
  });

  it('refuses a key signature that does not have 64 bytes', async () => {
    const item = await chain.item();
    const data = encodeBatch({ kind: 'eip3009-vrs', token: USDC, feeAccount: FEE_ACCOUNT, items: [item] });
    const shortened = `${data.slice(0, 2 + 200 + 218)}003f${data.slice(2 + 200 + 222, -2)}` as Hex;
    const answer = await chain.call(COLLECTOR_ADDRESS, shortened);
    assert.match(answer, new RegExp(errorSelector('MalformedItem()').slice(2)));
  });
});
