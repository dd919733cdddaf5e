import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Address, concat, encodeFunctionData, type Hex, hexToBigInt, keccak256, numberToHex, pad } from 'viem';
import caller from '../../contracts/artifacts/Caller.json' with { type: 'json' };
import deepWallet from '../../contracts/artifacts/DeepWallet.json' with { type: 'json' };
import testWrapped from '../../contracts/artifacts/TestWrapped.json' with { type: 'json' };
import {
  COLLECTOR_ADDRESS,
  encodeBatch,
  encodeNativePayment,
  NATIVE_TOKEN,
  PERMIT2_ADDRESS,
} from '../../src/chains/evm/collector.ts';
import { SANDBOX_ACCOUNTS } from '../../src/sandbox/genesis.ts';
import {
  type CollectorChain,
  collectorLogs,
  commitmentByTheBook,
  createCollectorChain,
  DEADLINE,
  errorSelector,
  FEE_ACCOUNT,
  reasonsOf,
  results,
  USDC,
  USDT,
} from './collector-chain.ts';
import { ANY_SIGNATURE, assertWholeAllowance, deployHostileToken, type HostileToken } from './hostile-token.ts';

const KINDS = ['eip3009-vrs', 'eip3009-bytes', 'permit2'] as const;

let chain: CollectorChain;
let hostile: HostileToken;
before(async () => {
  chain = await createCollectorChain();
  hostile = await deployHostileToken(chain);
});
after(() => chain.evm.close());

/** The Collector's own logs as they are. */
const rawLogs = ({ logs }: { logs: readonly { address: Address; topics: readonly Hex[]; data: Hex }[] }) =>
  logs.filter(({ address }) => address === COLLECTOR_ADDRESS.toLowerCase());

const onChain = (chainId: number): Hex => concat([numberToHex(chainId, { size: 32 }), pad(COLLECTOR_ADDRESS)]);

describe('the commitment', () => {
  it('is the hash of the chain, the Collector and the words of the event, for every kind of payment', async () => {
    for (const chainId of [31337, 84532]) {
      const place = chainId === 31337 ? chain : await createCollectorChain({ chainId });
      try {
        for (const kind of KINDS) {
          const item = await place.item({ kind });
          const { receipt } = await place.collect({ kind, items: [item] });
          const [log] = rawLogs(receipt);
          assert.equal(log?.topics[1], keccak256(concat([onChain(chainId), log?.data ?? '0x'])));
          const nonceSpace = kind === 'permit2' ? 2n : 1n;
          assert.equal(log?.topics[1], commitmentByTheBook(item, { nonceSpace, chainId }));
        }
        const data = encodeNativePayment({ ...coin(place), feeAccount: FEE_ACCOUNT });
        const { payer } = SANDBOX_ACCOUNTS;
        const paid = await place.send({ from: payer, to: COLLECTOR_ADDRESS, data, value: 1_000n });
        const [log] = rawLogs(paid);
        assert.equal(log?.topics[1], keccak256(concat([onChain(chainId), log?.data ?? '0x'])));
      } finally {
        if (place !== chain) await place.evm.close();
      }
    }
  });

  it('differs between the places where a nonce is used up: one order is never paid twice', async () => {
    const payer = await chain.payer('permit2', USDC);
    const terms = { subject: chain.newSubject(), payer: payer.address, recipient: chain.someone().address };
    const commitments = new Set<Hex>();
    for (const kind of KINDS) {
      const signed = await chain.item({ ...terms, kind });
      const { logs } = await chain.collect({ kind, items: [signed] });
      for (const log of logs) if (log.type === 'collected') commitments.add(log.commitment);
    }
    // The two forms of EIP-3009 share the nonces of the token.
    assert.equal(commitments.size, 2);
  });

  it('covers 32 bytes of the subject', async () => {
    const item = await chain.item();
    const other = { ...item, subject: `${item.subject.slice(0, -1)}${item.subject.endsWith('0') ? 1 : 0}` as Hex };
    assert.equal(results(await chain.refusesAlone(other))[1], 'wrong_signature');
  });
});

const coin = (place: CollectorChain) => ({
  subject: place.newSubject(),
  payer: SANDBOX_ACCOUNTS.payer,
  amount: 1_000n,
  fee: 10n,
  recipient: place.someone().address,
  deadline: 2 ** 40 - 1,
});

describe('an amount of zero', () => {
  it('is refused, so that nobody forges a payer in a token that accepts any call', async () => {
    const token = await chain.deploy(testWrapped);
    const victim = chain.someone().address;
    for (const kind of ['eip3009-vrs', 'eip3009-bytes'] as const) {
      const forged = await chain.item({ payer: victim, amount: 0n, fee: 0n, signature: ANY_SIGNATURE });
      assert.deepEqual(reasonsOf(await chain.collect({ kind, token, items: [forged] })), [
        errorSelector('NothingToPay()'),
      ]);
    }
    const signed = await chain.item({ kind: 'permit2', amount: 0n, fee: 0n });
    assert.deepEqual(reasonsOf(await chain.collect({ kind: 'permit2', items: [signed] })), [
      errorSelector('NothingToPay()'),
    ]);
  });

  it('cannot be smuggled in with a fee, or through money that the Collector holds', async () => {
    const token = await chain.deploy(testWrapped);
    await chain.callToken(token, 'mint', [COLLECTOR_ADDRESS, 1_000n]);
    for (const fee of [0n, 1n, 99n, 100n, 101n]) {
      for (const recipient of [chain.someone().address, COLLECTOR_ADDRESS, FEE_ACCOUNT]) {
        const forged = { ...{ payer: recipient, amount: 100n, fee, recipient }, signature: ANY_SIGNATURE };
        const { logs } = await chain.collect({ token, items: [await chain.item(forged)] });
        assert.deepEqual(
          logs.map(({ type }) => type),
          ['refused'],
        );
      }
    }
    assert.equal(await chain.balanceOf(token, COLLECTOR_ADDRESS), 1_000n);
  });

  it('is refused in native coin', async () => {
    const data = encodeNativePayment({ ...coin(chain), amount: 0n, fee: 0n, feeAccount: FEE_ACCOUNT });
    await assert.rejects(chain.call(COLLECTOR_ADDRESS, data), { data: errorSelector('NothingToPay()') });
    const least = { ...coin(chain), amount: 1n, fee: 0n, feeAccount: FEE_ACCOUNT };
    await chain.call(COLLECTOR_ADDRESS, encodeNativePayment(least), { value: 1n });
  });
});

describe('a net amount of zero', () => {
  it('is not transferred: an item that is all fee is paid even if its recipient cannot be paid', async () => {
    const item = await chain.item({ fee: 10_000_000n });
    await chain.callToken(USDC, 'blacklist', [item.recipient]);
    const { receipt, logs } = await chain.collect({ items: [item] });
    assert.deepEqual(results({ receipt, logs }), ['collected']);
    // One transfer from the payer, one to the fee account, and the token's two events of the authorization.
    const transfers = receipt.logs.filter(({ topics }) => topics.length === 3 && topics[0] === TRANSFER_TOPIC);
    assert.equal(transfers.length, 2);
  });
});

const TRANSFER_TOPIC = keccak256(new TextEncoder().encode('Transfer(address,address,uint256)'));

describe('a refusal', () => {
  it('proves nothing: a stranger has it emitted for any known item, which is paid all the same', async () => {
    const item = await chain.item();
    const stranger = chain.someone().address;
    await chain.rpc('hardhat_setBalance', [stranger, '0xde0b6b3a7640000']);
    const forged = { ...item, signature: ANY_SIGNATURE };
    const refused = await chain.collect({ items: [forged] }, { from: stranger });
    assert.deepEqual(
      refused.logs.map(({ type, commitment }) => [type, commitment]),
      [['refused', commitmentByTheBook(item)]],
    );
    // A stranger may also choose too little gas for the item.
    const starved = await chain.collect({ items: [item], allowance: 60_000 }, { from: stranger });
    assert.deepEqual(results(starved), ['out_of_gas']);
    assert.deepEqual(results(await chain.collect({ items: [item] })), ['collected']);
  });

  it('says out of gas where a wallet runs out of it eight calls deep', async () => {
    // Three calls lead to the wallet: to the token, to its implementation, and to the wallet itself.
    for (const depth of [1, 2, 3, 4, 5]) {
      const wallet = await chain.deploy(deepWallet, [depth]);
      await chain.callToken(USDC, 'mint', [wallet, 10_000_000n]);
      const item = await chain.item({ payer: wallet, signature: ANY_SIGNATURE });
      const refused = await chain.collect({ kind: 'eip3009-bytes', items: [item] });
      assert.deepEqual(results(refused), ['out_of_gas'], `${depth}`);
    }
  });

  it('costs the same, however many there are', async () => {
    await hostile.setPull('RevertsAfterwards');
    const gasOf = async (count: number) => {
      const items = await Promise.all(Array.from({ length: count }, () => hostile.item()));
      return (await chain.collect({ token: hostile.token, items, allowance: 100_000 })).receipt.gasUsed;
    };
    const [ten, twenty, hundred] = [await gasOf(10), await gasOf(20), await gasOf(100)];
    await hostile.setPull('Moves');
    assert.ok(Math.abs((hundred - ten) / 90 / ((twenty - ten) / 10) - 1) < 0.01, `${ten} ${twenty} ${hundred}`);
  });

  it('gives the reason itself where less than seven eighths of the gas is spent', async () => {
    const { token } = hostile;
    await hostile.setPull('Accepts');
    for (const [gas, reason] of [
      [115_000n, errorSelector('ShortArrival()')],
      [128_000n, errorSelector('OutOfGas()')],
    ] as const) {
      const signer = chain.someone();
      const item = await chain.item({ kind: 'permit2', token, payer: signer.address, signer, fee: 0n });
      // The balance of the recipient is asked twice.
      await hostile.play('IsDear', gas, item.recipient);
      const asked = await chain.simulate({ kind: 'permit2', token, items: [item], allowance: 320_000 });
      assert.deepEqual(asked, [{ isCollected: false, reason }]);
    }
    await hostile.setPull('Moves');
    await hostile.play('None');
  });
});

describe('the form of a batch', () => {
  it('is checked at every byte: a batch that is cut off inside of an item reverts whole', async () => {
    for (const kind of KINDS) {
      const items = [await chain.item({ kind }), await chain.item({ kind })];
      const data = encodeBatch({ kind, token: USDC, feeAccount: FEE_ACCOUNT, items });
      const [bytes, size] = [data.length / 2 - 1, (data.length / 2 - 1 - 100) / 2];
      for (let cut = 4; cut < bytes; cut += 1) {
        const asked = chain.call(COLLECTOR_ADDRESS, data.slice(0, 2 + 2 * cut) as Hex);
        if (cut === 100 || cut === 100 + size) await asked;
        else
          await assert.rejects(
            asked,
            ({ data: revertData }: { data?: Hex }) => cut < 100 || revertData === errorSelector('MalformedItem()'),
          );
      }
    }
  });

  it('lets two batches and a payment in coin share a transaction', async () => {
    const made = await chain.deploy(caller);
    await chain.rpc('hardhat_setBalance', [made, '0xde0b6b3a7640000']);
    const items = [await chain.item(), await chain.item()];
    const calls = [
      ...items.map((item) => ({
        ...{ to: COLLECTOR_ADDRESS, value: 0n },
        data: encodeBatch({ kind: 'eip3009-vrs', token: USDC, feeAccount: FEE_ACCOUNT, items: [item] }),
      })),
      ...[coin(chain), coin(chain)].map((item) => ({
        ...{ to: COLLECTOR_ADDRESS, value: item.amount },
        data: encodeNativePayment({ ...item, feeAccount: FEE_ACCOUNT }),
      })),
    ];
    const data = encodeFunctionData({ abi: caller.abi, functionName: 'run', args: [calls] });
    const receipt = await chain.send({ to: made, data });
    assert.deepEqual(
      collectorLogs(receipt).map(({ type }) => type),
      ['collected', 'collected', 'collected', 'collected'],
    );
  });

  it('has amounts of 16 bytes and deadlines of 5', async () => {
    const { token } = hostile;
    for (const kind of ['eip3009-vrs', 'eip3009-bytes'] as const) {
      const amount = 2n ** 127n + 2n ** 96n + 5n;
      const item = await hostile.item({ amount, fee: 2n ** 112n + 3n, deadline: 2 ** 40 - 1 });
      const feeAccount = chain.someone().address;
      const { logs } = await chain.collect({ kind, token, feeAccount, items: [item] });
      assert.deepEqual(
        logs.map(({ commitment }) => commitment),
        [commitmentByTheBook(item, { token, feeAccount })],
      );
      assert.equal(await chain.balanceOf(token, item.recipient), item.amount - item.fee);
      assert.equal(await chain.balanceOf(token, feeAccount), item.fee);
    }
    for (const kind of KINDS) {
      const late = await chain.item({ kind, deadline: 2 ** 33 + 1 });
      assert.deepEqual(results(await chain.collect({ kind, items: [late] })), ['collected']);
    }
  });
});

describe('the gas of an item', () => {
  it('is its whole allowance or the batch reverts, however large the allowance', async () => {
    const { token } = hostile;
    await hostile.setPull('TellsGas');
    for (const allowance of [100_000, 5_000_000, 15_000_000]) {
      const item = await hostile.item();
      const gasReported = async (gas: number) => {
        const outcome = await chain.simulate({ token, items: [item], allowance }, gas).catch(() => undefined);
        const [first] = outcome ?? [];
        return first?.isCollected === false ? hexToBigInt(first.reason) : undefined;
      };
      await assertWholeAllowance(allowance, gasReported);
    }
    await hostile.setPull('Moves');
  });
});

describe('tokens that lie', () => {
  it('are none if a balance has less than 32 bytes', async () => {
    const item = await hostile.item();
    for (let bytes = 0n; bytes < 32n; bytes += 1n) {
      await hostile.play('AnswersBytes', bytes);
      const asked = chain.simulate({ token: hostile.token, items: [item] });
      await assert.rejects(asked, { data: errorSelector('NotAToken()') });
    }
    for (const words of [1n, 2n, 30_000n]) {
      await hostile.play('AnswersWords', words);
      const asked = await chain.simulate({ token: hostile.token, items: [item], allowance: 12_000_000 }, 2 ** 24);
      assert.deepEqual(asked, [{ isCollected: true }]);
    }
    await hostile.play('None');
  });

  it('take nothing of others by a wrong balance of the Collector', async () => {
    for (const [trick, value] of [
      ['Flips', 1n],
      ['Flips', 100_000n],
      ['Flips', 2n ** 200n],
      ['BurnsGas', 0n],
    ] as const) {
      const item = await hostile.item();
      await hostile.play(trick, value, COLLECTOR_ADDRESS);
      await chain.collect({ token: hostile.token, items: [item] });
      await hostile.play('None');
      const held = [
        await chain.balanceOf(hostile.token, item.payer),
        await chain.balanceOf(hostile.token, item.recipient),
      ];
      assert.deepEqual(held, [item.amount, 0n], trick);
    }
  });

  it('may need much gas for a balance', async () => {
    await hostile.play('IsDear', 100_000n);
    const item = await hostile.item();
    const { receipt, logs } = await chain.collect(
      { token: hostile.token, items: [item], allowance: 500_000 },
      { gas: 2 ** 24 },
    );
    await hostile.play('None');
    assert.deepEqual(results({ receipt, logs }), ['collected']);
  });

  it('are not our own contracts, nor Permit2, nor a precompiled one', async () => {
    const item = await hostile.item();
    for (const token of [
      COLLECTOR_ADDRESS,
      PERMIT2_ADDRESS,
      ...[1, 2, 3, 4, 5, 9].map((at) => numberToHex(at, { size: 20 })),
    ]) {
      for (const kind of KINDS) {
        const { logs } = await chain.collect({ kind, token, items: [item] }, { gas: 2 ** 23 });
        assert.ok(
          logs.every(({ type }) => type === 'refused'),
          token,
        );
      }
    }
  });
});

describe('Permit2 without a fee', () => {
  it('pays the recipient directly: one transfer, and none through the Collector', async () => {
    for (const token of [USDC, USDT]) {
      const item = await chain.item({ kind: 'permit2', token, fee: 0n });
      const { receipt, logs } = await chain.collect({ kind: 'permit2', token, items: [item] });
      assert.deepEqual(results({ receipt, logs }), ['collected']);
      assert.equal(receipt.logs.filter(({ topics }) => topics[0] === TRANSFER_TOPIC).length, 1);
      assert.equal(await chain.balanceOf(token, item.recipient), item.amount);
    }
  });

  it('is refused if less arrives, and pays a payer who is the recipient', async () => {
    const payer = await chain.payer('permit2', USDC);
    const own = await chain.item({ kind: 'permit2', payer: payer.address, recipient: payer.address, fee: 0n });
    assert.deepEqual(results(await chain.collect({ kind: 'permit2', items: [own] })), ['collected']);
    assert.equal(await chain.balanceOf(USDC, payer.address), 1_000_000_000n);

    const { token } = hostile;
    await hostile.setPull('Accepts');
    const signer = chain.someone();
    const item = await chain.item({ kind: 'permit2', token, payer: signer.address, signer, fee: 0n });
    const lied = await chain.collect({ kind: 'permit2', token, items: [item] });
    await hostile.setPull('Moves');
    assert.deepEqual(reasonsOf(lied), [errorSelector('ShortArrival()')]);
  });

  it('never leaves money on the Collector: as a recipient it is refused', async () => {
    const item = await chain.item({ kind: 'permit2', recipient: COLLECTOR_ADDRESS, fee: 0n });
    assert.deepEqual(reasonsOf(await chain.collect({ kind: 'permit2', items: [item] })), [
      errorSelector('WrongPayout()'),
    ]);
  });
});

describe('a payment in coin', () => {
  it('cannot be made for another token, and its deadline has 32 bytes', async () => {
    const item = { ...coin(chain), deadline: DEADLINE };
    const data = encodeNativePayment({ ...item, feeAccount: FEE_ACCOUNT });
    const late = `${data.slice(0, -64)}${'f'.repeat(64)}` as Hex;
    const receipt = await chain.send({ from: item.payer, to: COLLECTOR_ADDRESS, data: late, value: item.amount });
    assert.deepEqual(
      collectorLogs(receipt).map((log) => log.type === 'collected' && [log.token, log.terms?.deadline]),
      [[NATIVE_TOKEN, 2n ** 256n - 1n]],
    );
  });
});
