import {
  type Address,
  encodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  maxUint256,
  pad,
  parseAbi,
  parseEther,
  stringToBytes,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import permit2 from '../../contracts/artifacts/Permit2.json' with { type: 'json' };
import testDollar from '../../contracts/artifacts/TestDollar.json' with { type: 'json' };
import testProxy from '../../contracts/artifacts/TestProxy.json' with { type: 'json' };
import testTether from '../../contracts/artifacts/TestTether.json' with { type: 'json' };
import {
  COLLECTOR_ADDRESS,
  COLLECTOR_INIT_CODE,
  COLLECTOR_SALT,
  CREATE2_DEPLOYER,
  PERMIT2_ADDRESS,
} from '../chains/evm/collector.ts';
import { DEPOSITS_ADDRESS, DEPOSITS_INIT_CODE } from '../chains/evm/deposits.ts';
import { createLocalSigner } from '../chains/evm/local-signer.ts';
import type { LocalEvm, Predeploy } from './local-evm.ts';

/** The private keys of the sandbox chain, derived from public words: never send real money to their accounts. */
export const SANDBOX_KEYS = {
  payer: testKey('payer'),
  /** Pays a payment a second time in the outcome `double`. */
  secondPayer: testKey('second payer'),
  relayer: testKey('relayer'),
  secondRelayer: testKey('second relayer'),
  feeAccount: testKey('fee account'),
  intermediate: testKey('intermediate account'),
  merchant: testKey('merchant'),
  /** Mints tokens, pauses them and blacklists accounts. */
  minter: testKey('minter'),
} as const;

export const SANDBOX_ACCOUNTS = Object.fromEntries(
  Object.entries(SANDBOX_KEYS).map(([name, key]) => [name, createLocalSigner(key).address]),
) as Readonly<Record<keyof typeof SANDBOX_KEYS, Address>>;

/** The token addresses in `networks/eip155-31337.json`, each the last twenty bytes of a hash of the token's name. */
export const SANDBOX_TOKENS = {
  USDC: namedAddress('USDC'),
  EURC: namedAddress('EURC'),
  USDT: namedAddress('USDT'),
} as const;

/** The implementation behind the proxies of USDC and EURC, and the account that may replace it. */
const DOLLAR_IMPLEMENTATION = namedAddress('dollar implementation');
const PROXY_ADMIN = namedAddress('proxy admin');
/** The storage slots of implementation and admin in `contracts/sandbox/TestProxy.sol`. */
const IMPLEMENTATION_SLOT = keccak256(stringToBytes('org.zeppelinos.proxy.implementation'));
const ADMIN_SLOT = keccak256(stringToBytes('org.zeppelinos.proxy.admin'));

const DOLLAR_ABI = parseAbi(['function initialize(string name, string symbol, address minter)']);
const TETHER_ABI = parseAbi(['function initialize(address owner)']);
const TOKEN_ABI = parseAbi(['function mint(address, uint256)', 'function approve(address, uint256)']);

const ETHER_EACH = parseEther('1000000');
/** The balance of the payer and of the intermediate account in each token. */
export const SANDBOX_TOKENS_EACH = 1_000_000_000_000_000n;

/**
 * The code of the CREATE2 deployer. Its input is the salt, which is one word, and then the creation code. It returns the address of
 * the new contract.
 */
const CREATE2_DEPLOYER_CODE =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3';

/** A token at a chosen address: its code, and the minter's call that initializes its storage. */
export interface PlacedToken {
  readonly predeploy: Predeploy;
  readonly initialize: Call;
}

const TOKENS: readonly PlacedToken[] = [
  placeDollar(SANDBOX_TOKENS.USDC, { name: 'USD Coin', symbol: 'USDC' }),
  placeDollar(SANDBOX_TOKENS.EURC, { name: 'EURC', symbol: 'EURC' }),
  placeTether(SANDBOX_TOKENS.USDT),
];

/** A token like Circle's: a proxy in front of an implementation that every sandbox chain has. */
export function placeDollar(address: Address, { name, symbol }: { name: string; symbol: string }): PlacedToken {
  const storage = [
    { slot: IMPLEMENTATION_SLOT, value: pad(DOLLAR_IMPLEMENTATION) },
    { slot: ADMIN_SLOT, value: pad(PROXY_ADMIN) },
  ];
  const args = [name, symbol, SANDBOX_ACCOUNTS.minter] as const;
  return {
    predeploy: { address, nonce: 1n, code: testProxy.deployedBytecode as Hex, storage },
    initialize: { to: address, data: encodeFunctionData({ abi: DOLLAR_ABI, args }) },
  };
}

/** A token like Tether's on Ethereum. */
export function placeTether(address: Address): PlacedToken {
  const args = [SANDBOX_ACCOUNTS.minter] as const;
  return {
    predeploy: { address, nonce: 1n, code: testTether.deployedBytecode as Hex },
    initialize: { to: address, data: encodeFunctionData({ abi: TETHER_ABI, args }) },
  };
}

/** The state before the first block. Transactions of the first block create our contracts, as on every other chain. */
export function sandboxGenesis(tokens = TOKENS): Predeploy[] {
  return [
    { address: CREATE2_DEPLOYER, code: CREATE2_DEPLOYER_CODE, nonce: 1n },
    { address: PERMIT2_ADDRESS, code: permit2.deployedBytecode as Hex, nonce: 1n },
    ...Object.values(SANDBOX_ACCOUNTS).map((address) => ({ address, balance: ETHER_EACH })),
    { address: DOLLAR_IMPLEMENTATION, code: testDollar.deployedBytecode as Hex, nonce: 1n },
    ...tokens.map(({ predeploy }) => predeploy),
  ];
}

/** The number of the block that deploys and mints everything. Before this block, the balances of our accounts differ from the books. */
export const SANDBOX_FIRST_BLOCK = 1;

/** The raw transactions of the first block. They are deterministic, so that the chain can be rebuilt. */
export async function sandboxFirstBlock(chainId: number, tokens = TOKENS): Promise<Hex[]> {
  const holders = [SANDBOX_ACCOUNTS.payer, SANDBOX_ACCOUNTS.intermediate];
  const addresses = tokens.map(({ predeploy }) => predeploy.address);
  const fromMinter: Call[] = [
    { to: CREATE2_DEPLOYER, data: concat(COLLECTOR_SALT, COLLECTOR_INIT_CODE) },
    ...tokens.map(({ initialize }) => initialize),
    ...addresses.flatMap((to) =>
      holders.map((holder) => ({ to, data: tokenCall('mint', [holder, SANDBOX_TOKENS_EACH]) })),
    ),
    { to: CREATE2_DEPLOYER, data: concat(COLLECTOR_SALT, DEPOSITS_INIT_CODE) },
  ];
  const approvals: Call[] = addresses.map((to) => ({ to, data: tokenCall('approve', [PERMIT2_ADDRESS, maxUint256]) }));
  return [
    ...(await signAll(SANDBOX_KEYS.minter, chainId, fromMinter)),
    ...(await signAll(SANDBOX_KEYS.payer, chainId, approvals)),
    ...(await signAll(SANDBOX_KEYS.intermediate, chainId, approvals)),
  ];
}

/** The raw transactions that deploy our newest contracts on a chain that an older version created. Empty if the contracts exist. */
export async function missingReleases(evm: Pick<LocalEvm, 'request'>, chainId: number): Promise<Hex[]> {
  const releases = [
    { address: COLLECTOR_ADDRESS, initCode: COLLECTOR_INIT_CODE },
    { address: DEPOSITS_ADDRESS, initCode: DEPOSITS_INIT_CODE },
  ];
  const codes = await Promise.all(
    releases.map(({ address }) => evm.request({ method: 'eth_getCode', params: [address, 'latest'] })),
  );
  const missing = releases.filter((_, index) => codes[index] === '0x');
  if (missing.length === 0) return [];
  const count = await evm.request({
    method: 'eth_getTransactionCount',
    params: [SANDBOX_ACCOUNTS.minter, 'pending'],
  });
  const calls = missing.map(({ initCode }) => ({ to: CREATE2_DEPLOYER, data: concat(COLLECTOR_SALT, initCode) }));
  return signAll(SANDBOX_KEYS.minter, chainId, calls, Number(count));
}

interface Call {
  readonly to: Address;
  readonly data: Hex;
}

async function signAll(key: Hex, chainId: number, calls: readonly Call[], firstNonce = 0): Promise<Hex[]> {
  const account = privateKeyToAccount(key);
  return Promise.all(
    calls.map(({ to, data }, index) =>
      account.signTransaction({
        type: 'eip1559',
        chainId,
        nonce: firstNonce + index,
        to,
        data,
        gas: data.length > 2000 ? 4_000_000n : 200_000n,
        maxFeePerGas: 10_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
      }),
    ),
  );
}

function tokenCall(functionName: 'mint' | 'approve', args: [Address, bigint]): Hex {
  return encodeFunctionData({ abi: TOKEN_ABI, functionName, args });
}

function concat(head: string, tail: string): Hex {
  return `${head as Hex}${tail.slice(2)}`;
}

function testKey(name: string): Hex {
  return keccak256(stringToBytes(`till sandbox test key: ${name}`));
}

function namedAddress(name: string): Address {
  return getAddress(`0x${keccak256(stringToBytes(`till sandbox ${name}`)).slice(-40)}`);
}
