import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  maxUint256,
  parseAbi,
  parseEther,
  stringToBytes,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import permit2 from '../../contracts/artifacts/Permit2.json' with { type: 'json' };
import testDollar from '../../contracts/artifacts/TestDollar.json' with { type: 'json' };
import testTether from '../../contracts/artifacts/TestTether.json' with { type: 'json' };
import { COLLECTOR_INIT_CODE, COLLECTOR_SALT, CREATE2_DEPLOYER, PERMIT2_ADDRESS } from '../chains/evm/collector.ts';
import { createLocalEvm, type LocalEvm, type LocalEvmOptions, type Predeploy } from './local-evm.ts';

/**
 * Keys of the sandbox chain. Everybody can compute them from these words, so they are worth nothing anywhere else:
 * never send real money to their accounts.
 */
export const SANDBOX_KEYS = {
  payer: testKey('payer'),
  relayer: testKey('relayer'),
  secondRelayer: testKey('second relayer'),
  feeAccount: testKey('fee account'),
  intermediate: testKey('intermediate account'),
  merchant: testKey('merchant'),
  /** Mints tokens, pauses them and blacklists accounts. */
  minter: testKey('minter'),
} as const;

export const SANDBOX_ACCOUNTS = Object.fromEntries(
  Object.entries(SANDBOX_KEYS).map(([name, key]) => [name, privateKeyToAccount(key).address]),
) as Readonly<Record<keyof typeof SANDBOX_KEYS, Address>>;

/** Where `chains/networks.ts` knows the tokens: at the last twenty bytes of a hash of their names. */
export const SANDBOX_TOKENS = {
  USDC: tokenAddress('USDC'),
  EURC: tokenAddress('EURC'),
  USDT: tokenAddress('USDT'),
} as const;

/** Variables a constructor can set to something short lie in the first slots. */
const CONSTRUCTED_SLOTS = Array.from({ length: 16 }, (_, slot): Hex => `0x${slot.toString(16)}`);

const ETHER_EACH = parseEther('1000000');
/** What the payer and the intermediate account are given of each token. */
export const SANDBOX_TOKENS_EACH = 1_000_000_000_000_000n;

/**
 * The deployer that has one address on every chain: it makes a contract of what follows the first word of its input,
 * with that word as salt, and answers the address.
 */
const CREATE2_DEPLOYER_CODE =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3';

/** State before the first block. The Collector is created by a transaction of that block, as on every other chain. */
export async function sandboxGenesis(chainId: number): Promise<Predeploy[]> {
  return [
    { address: CREATE2_DEPLOYER, code: CREATE2_DEPLOYER_CODE, nonce: 1n },
    { address: PERMIT2_ADDRESS, code: permit2.deployedBytecode as Hex, nonce: 1n },
    ...Object.values(SANDBOX_ACCOUNTS).map((address) => ({ address, balance: ETHER_EACH })),
    ...(await tokenPredeploys(chainId)),
  ];
}

/** A new sandbox chain: the Collector, Permit2, the tokens, and accounts that hold plenty of everything. */
export async function createSandboxEvm(options: Omit<LocalEvmOptions, 'genesis' | 'firstBlock'>): Promise<LocalEvm> {
  const chainId = options.chainId ?? 31337;
  const [genesis, firstBlock] = await Promise.all([sandboxGenesis(chainId), sandboxFirstBlock(chainId)]);
  return createLocalEvm({ ...options, genesis, firstBlock });
}

/**
 * The tokens as their constructors would have left them at these addresses, which no transaction can create anything at.
 * So the constructors run there: on a chain that is thrown away, the code that creates a token lies at its address as if
 * it were its own. Called, it writes the token's storage and answers the token's code, with this address and chain in it.
 */
async function tokenPredeploys(chainId: number): Promise<Predeploy[]> {
  const minter = SANDBOX_ACCOUNTS.minter;
  const creations: readonly Call[] = [
    { to: SANDBOX_TOKENS.USDC, data: dollarCode('USD Coin', 'USDC', minter) },
    { to: SANDBOX_TOKENS.EURC, data: dollarCode('EURC', 'EURC', minter) },
    {
      to: SANDBOX_TOKENS.USDT,
      data: concat(testTether.bytecode, encodeAbiParameters([{ type: 'address' }], [minter])),
    },
  ];
  const workbench = await createLocalEvm({
    chainId,
    mining: 'manual',
    genesis: [
      { address: minter, balance: ETHER_EACH },
      ...creations.map(({ to, data }) => ({ address: to, code: data, nonce: 1n })),
    ],
    firstBlock: await signAll(
      SANDBOX_KEYS.minter,
      chainId,
      creations.map(({ to }) => ({ to, data: '0x' })),
    ),
  });
  const read = async (method: string, params: unknown[]) => (await workbench.request({ method, params })) as Hex;
  const tokens = creations.map(async ({ to }) => ({
    address: to,
    nonce: 1n,
    code: await read('eth_call', [{ to }, 'latest']),
    storage: await Promise.all(
      CONSTRUCTED_SLOTS.map(async (slot) => ({ slot, value: await read('eth_getStorageAt', [to, slot, 'latest']) })),
    ),
  }));
  const predeploys = await Promise.all(tokens);
  await workbench.close();
  return predeploys.map((token) => ({ ...token, storage: token.storage.filter(({ value }) => BigInt(value) !== 0n) }));
}

/** The raw transactions of the first block. They are the same every time, so that a chain can be built again. */
export async function sandboxFirstBlock(chainId: number): Promise<Hex[]> {
  const { USDC, EURC, USDT } = SANDBOX_TOKENS;
  const tokens = [USDC, EURC, USDT];
  const holders = [SANDBOX_ACCOUNTS.payer, SANDBOX_ACCOUNTS.intermediate];
  const fromMinter: Call[] = [
    { to: CREATE2_DEPLOYER, data: concat(COLLECTOR_SALT, COLLECTOR_INIT_CODE) },
    ...tokens.flatMap((to) =>
      holders.map((holder) => ({ to, data: tokenCall('mint', [holder, SANDBOX_TOKENS_EACH]) })),
    ),
  ];
  const approvals: Call[] = tokens.map((to) => ({ to, data: tokenCall('approve', [PERMIT2_ADDRESS, maxUint256]) }));
  return [
    ...(await signAll(SANDBOX_KEYS.minter, chainId, fromMinter)),
    ...(await signAll(SANDBOX_KEYS.payer, chainId, approvals)),
    ...(await signAll(SANDBOX_KEYS.intermediate, chainId, approvals)),
  ];
}

interface Call {
  readonly to: Address;
  readonly data: Hex;
}

async function signAll(key: Hex, chainId: number, calls: readonly Call[]): Promise<Hex[]> {
  const account = privateKeyToAccount(key);
  return Promise.all(
    calls.map(({ to, data }, nonce) =>
      account.signTransaction({
        type: 'eip1559',
        chainId,
        nonce,
        to,
        data,
        gas: data.length > 2000 || data === '0x' ? 4_000_000n : 200_000n,
        maxFeePerGas: 10_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
      }),
    ),
  );
}

const TOKEN_ABI = parseAbi(['function mint(address, uint256)', 'function approve(address, uint256)']);

function tokenCall(functionName: 'mint' | 'approve', args: [Address, bigint]): Hex {
  return encodeFunctionData({ abi: TOKEN_ABI, functionName, args });
}

function dollarCode(name: string, symbol: string, minter: Address): Hex {
  const types = [{ type: 'string' }, { type: 'string' }, { type: 'address' }] as const;
  return concat(testDollar.bytecode, encodeAbiParameters(types, [name, symbol, minter]));
}

function concat(head: string, tail: string): Hex {
  return `${head as Hex}${tail.slice(2)}`;
}

function testKey(name: string): Hex {
  return keccak256(stringToBytes(`till sandbox test key: ${name}`));
}

function tokenAddress(symbol: string): Address {
  return getAddress(`0x${keccak256(stringToBytes(`till sandbox ${symbol}`)).slice(-40)}`);
}
