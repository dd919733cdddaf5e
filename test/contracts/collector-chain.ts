import assert from 'node:assert/strict';
import {
  type Abi,
  type Address,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  keccak256,
  maxUint256,
  parseAbi,
  stringToBytes,
  toFunctionSelector,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import {
  type Batch,
  batchGasLimit,
  COLLECTOR_ADDRESS,
  type CollectorItem,
  type CollectorLog,
  commitmentOf,
  decodeBatchOutcome,
  decodeCollectorLog,
  encodeBatch,
  type ItemKind,
  type ItemOutcome,
  PERMIT2_ADDRESS,
  reasonOf,
  type SignedItem,
} from '../../src/chains/evm/collector.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_TOKENS } from '../../src/sandbox/genesis.ts';
import { createSandboxEvm } from '../../src/sandbox/sandbox-evm.ts';

/** A local chain with helpers for tests of the Collector. */

const CHAIN_ID = 31337;
export const DEADLINE = 4_000_000_000;
export const { USDC, USDT } = SANDBOX_TOKENS;
export const FEE_ACCOUNT = SANDBOX_ACCOUNTS.feeAccount;
const { relayer, minter } = SANDBOX_ACCOUNTS;

export const TOKEN_ABI = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function mint(address, uint256)',
  'function approve(address, uint256)',
  'function transfer(address, uint256)',
  'function pause()',
  'function unpause()',
  'function blacklist(address)',
  'function unBlacklist(address)',
  'function addBlackList(address)',
  'function authorizationState(address, bytes32) view returns (bool)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

interface Receipt {
  readonly status: 'success' | 'reverted';
  readonly gasUsed: number;
  readonly logs: readonly { readonly address: Address; readonly topics: readonly Hex[]; readonly data: Hex }[];
}

interface Sending {
  readonly from?: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly gas?: number;
  readonly value?: bigint;
}

export interface Collected {
  readonly receipt: Receipt;
  /** The decoded logs of the Collector, in order. */
  readonly logs: readonly CollectorLog[];
}

/** The terms bound by a signature; tests change one and expect a refusal. */
export interface Binding {
  readonly kind?: ItemKind;
  readonly token?: Address;
  readonly feeAccount?: Address;
  readonly chainId?: number;
  readonly collector?: Address;
  readonly signer?: PrivateKeyAccount;
}

export type CollectorChain = Awaited<ReturnType<typeof createCollectorChain>>;

export async function createCollectorChain({ chainId: ownChainId = CHAIN_ID }: { readonly chainId?: number } = {}) {
  const evm = await createSandboxEvm({ mining: 'auto', chainId: ownChainId });
  const keys = new Map<string, PrivateKeyAccount>();
  let count = 0;

  const rpc = <T = unknown>(method: string, params: unknown[] = []) => evm.request({ method, params }) as Promise<T>;

  /** A new, unused account. */
  function someone(): PrivateKeyAccount {
    count += 1;
    const account = privateKeyToAccount(keccak256(stringToBytes(`somebody ${count}`)));
    keys.set(account.address, account);
    return account;
  }

  async function send({ from = relayer, to, data, gas = 16_000_000, value = 0n }: Sending): Promise<Receipt> {
    await rpc('hardhat_impersonateAccount', [from]);
    const hash = await rpc('eth_sendTransaction', [
      { from, to, data, gas: hex(gas), value: hex(value), gasPrice: hex(2_000_000_000) },
    ]);
    const receipt = await rpc<{ status: Hex; gasUsed: Hex; logs: Receipt['logs'] }>('eth_getTransactionReceipt', [
      hash,
    ]);
    return {
      status: receipt.status === '0x1' ? 'success' : 'reverted',
      gasUsed: Number(receipt.gasUsed),
      logs: receipt.logs,
    };
  }

  async function call(to: Address, data: Hex, options: Partial<Sending> = {}): Promise<Hex> {
    const { from = relayer, value = 0n, gas = 16_000_000 } = options;
    return rpc<Hex>('eth_call', [{ from, to, data, value: hex(value), gas: hex(gas) }, 'latest']);
  }

  async function deploy(artifact: { abi: unknown; bytecode: string }, args: readonly unknown[] = []): Promise<Address> {
    const data = encodeDeployData({ abi: artifact.abi as Abi, bytecode: artifact.bytecode as Hex, args: [...args] });
    await rpc('hardhat_impersonateAccount', [relayer]);
    const hash = await rpc('eth_sendTransaction', [{ from: relayer, data, gas: hex(10_000_000) }]);
    return (await rpc<{ contractAddress: Address }>('eth_getTransactionReceipt', [hash])).contractAddress;
  }

  type TokenFunction =
    | 'mint'
    | 'approve'
    | 'transfer'
    | 'blacklist'
    | 'unBlacklist'
    | 'addBlackList'
    | 'pause'
    | 'unpause';
  /** A transaction to a token, sent by its minter by default. */
  async function callToken(
    token: Address,
    functionName: TokenFunction,
    args: readonly unknown[],
    from: Address = minter,
  ) {
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName, args } as Parameters<typeof encodeFunctionData>[0]);
    const receipt = await send({ from, to: token, data });
    if (receipt.status !== 'success') throw new Error(`${functionName} failed`);
  }

  async function balanceOf(token: Address, account: Address): Promise<bigint> {
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'balanceOf', args: [account] });
    return hexToBigInt(await call(token, data));
  }

  const coinOf = async (account: Address) => hexToBigInt(await rpc<Hex>('eth_getBalance', [account, 'latest']));

  /** A payer with a balance in the token, and an allowance for Permit2 if needed. */
  async function payer(kind: ItemKind, token: Address): Promise<PrivateKeyAccount> {
    const account = someone();
    await callToken(token, 'mint', [account.address, 1_000_000_000n]);
    if (kind === 'permit2') {
      await rpc('hardhat_setBalance', [account.address, hex(10n ** 18n)]);
      await callToken(token, 'approve', [PERMIT2_ADDRESS, maxUint256], account.address);
    }
    return account;
  }

  /** A good item by a funded payer to a new recipient; with the given changes. */
  async function item(given: Partial<SignedItem> & Binding = {}): Promise<SignedItem> {
    const { kind = 'eip3009-vrs', token = USDC, signer, signature, feeAccount, chainId, collector, ...rest } = given;
    const plain: CollectorItem = {
      subject: newSubject(),
      payer: rest.payer ?? (await payer(kind, token)).address,
      amount: 10_000_000n,
      fee: 100_000n,
      recipient: someone().address,
      deadline: DEADLINE,
      ...rest,
    };
    if (signature !== undefined) return { ...plain, signature };
    const bound = { kind, token, feeAccount: feeAccount ?? FEE_ACCOUNT, chainId: chainId ?? ownChainId };
    const account = signer ?? keys.get(plain.payer);
    if (account === undefined) throw new Error(`Nobody knows the key of ${plain.payer}`);
    return {
      ...plain,
      signature: await sign(plain, { ...bound, ...(collector ? { collector } : {}), signer: account }),
    };
  }

  function newSubject(): Hex {
    count += 1;
    return keccak256(stringToBytes(`payment ${count}`));
  }

  async function collect(
    batch: Partial<Batch> & Pick<Batch, 'items'>,
    sending: Partial<Sending> = {},
  ): Promise<Collected> {
    const whole = { kind: 'eip3009-vrs', token: USDC, feeAccount: FEE_ACCOUNT, ...batch } as const;
    const gas = Math.min(2 ** 24, batchGasLimit(whole.kind, whole.items.length, whole));
    const receipt = await send({ to: COLLECTOR_ADDRESS, data: encodeBatch(whole), gas, ...sending });
    return { receipt, logs: collectorLogs(receipt) };
  }

  /** The outcome of the batch in a simulation. */
  async function simulate(batch: Partial<Batch> & Pick<Batch, 'items'>, gas?: number): Promise<ItemOutcome[]> {
    const whole = { kind: 'eip3009-vrs', token: USDC, feeAccount: FEE_ACCOUNT, ...batch } as const;
    const answer = await call(COLLECTOR_ADDRESS, encodeBatch(whole), gas === undefined ? {} : { gas });
    return decodeBatchOutcome(answer, whole.items.length);
  }

  /** A bad item between two good ones: the good ones are paid, the bad one is not, and the Collector keeps nothing. */
  async function refusesAlone(bad: SignedItem, batch: { kind?: ItemKind; token?: Address } = {}): Promise<Collected> {
    const { kind = 'eip3009-vrs', token = USDC } = batch;
    const [first, last] = [await item({ kind, token }), await item({ kind, token })];
    const held = await balanceOf(token, bad.payer);
    const result = await collect({ kind, token, items: [first, bad, last] });
    assert.deepEqual(
      result.logs.map(({ type }) => type),
      ['collected', 'refused', 'collected'],
    );
    assert.equal(await balanceOf(token, bad.payer), held);
    for (const { recipient } of [first, last]) assert.equal(await balanceOf(token, recipient), 9_900_000n);
    assert.equal(await balanceOf(token, COLLECTOR_ADDRESS), 0n);
    return result;
  }

  return {
    evm,
    rpc,
    someone,
    send,
    call,
    deploy,
    callToken,
    balanceOf,
    coinOf,
    payer,
    item,
    newSubject,
    collect,
    simulate,
    refusesAlone,
  };
}

/** The outcome of each item: collected, or the name of the refusal. */
export const results = ({ logs }: Collected) =>
  logs.map((log) => (log.type === 'refused' ? reasonOf(log.reason) : 'collected'));

export const reasonsOf = ({ logs }: Collected) => logs.flatMap((log) => (log.type === 'refused' ? [log.reason] : []));

/** The selector of an error. */
export const errorSelector = (error: string) => toFunctionSelector(error);

export function collectorLogs(receipt: Receipt): CollectorLog[] {
  return receipt.logs
    .filter((log) => log.address === COLLECTOR_ADDRESS.toLowerCase())
    .map((log) => decodeCollectorLog(log))
    .filter((log) => log !== undefined);
}

/** The commitment by a standard ABI encoder, to check `commitmentOf`. */
export function commitmentByTheBook(
  item: CollectorItem,
  {
    token = USDC,
    feeAccount = FEE_ACCOUNT,
    nonceSpace = 1n,
    chainId = CHAIN_ID,
  }: { token?: Address; feeAccount?: Address; nonceSpace?: bigint; chainId?: number } = {},
): Hex {
  const types = [
    'uint256',
    'address',
    'uint256',
    'address',
    'address',
    'bytes32',
    'address',
    'uint256',
    'uint256',
    'address',
    'uint256',
  ];
  return keccak256(
    encodeAbiParameters(
      types.map((type) => ({ type })),
      [
        BigInt(chainId),
        COLLECTOR_ADDRESS,
        nonceSpace,
        token,
        feeAccount,
        item.subject,
        item.payer,
        item.amount,
        item.fee,
        item.recipient,
        BigInt(item.deadline),
      ],
    ),
  );
}

async function sign(
  item: CollectorItem,
  bound: Required<Omit<Binding, 'collector'>> & Pick<Binding, 'collector'>,
): Promise<Hex> {
  const { chainId, token, feeAccount, collector = COLLECTOR_ADDRESS, signer } = bound;
  const nonceSpace = bound.kind === 'permit2' ? 'permit2' : 'token';
  const nonce = commitmentOf({ ...item, nonceSpace, chainId, token, feeAccount, collector });
  const deadline = BigInt(item.deadline);
  if (bound.kind === 'permit2') {
    return signer.signTypedData({
      domain: { name: 'Permit2', chainId, verifyingContract: PERMIT2_ADDRESS },
      types: PERMIT_TYPES,
      primaryType: 'PermitTransferFrom',
      message: { permitted: { token, amount: item.amount }, spender: collector, nonce: BigInt(nonce), deadline },
    });
  }
  return signer.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: token },
    types: { ReceiveWithAuthorization: AUTHORIZATION_FIELDS },
    primaryType: 'ReceiveWithAuthorization',
    message: { from: item.payer, to: collector, value: item.amount, validAfter: 0n, validBefore: deadline, nonce },
  });
}

export const AUTHORIZATION_FIELDS = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;

const PERMIT_TYPES = {
  PermitTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    { name: 'spender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
  TokenPermissions: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
} as const;

export const hex = (value: bigint | number): Hex => `0x${value.toString(16)}`;
