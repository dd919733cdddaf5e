import type { Log, World } from '../../runtime/world.ts';
import type { Network } from '../network.ts';
import type { Signer } from '../signer.ts';
import { sign } from './batches.ts';
import { broadcastCall, isShort } from './broadcast.ts';
import { COLLECTOR_ADDRESS, COLLECTOR_INIT_CODE, COLLECTOR_SALT, CREATE2_DEPLOYER } from './collector.ts';
import { COLLECTORS } from './collectors.ts';
import { deployDeployer } from './deploy-deployer.ts';
import { DeploymentError } from './deployment-error.ts';
import { DEPOSITS_ADDRESS, DEPOSITS_INIT_CODE } from './deposits.ts';
import { readRevert } from './eth-call.ts';
import { createEvmContext, type EvmContext } from './evm-context.ts';
import { suggestFees } from './fees.ts';
import { offerOf } from './offer.ts';
import { createRpc } from './rpc.ts';
import { type Hex, readNumber, readQuantity } from './rpc-values.ts';
import { hasCodeCall } from './token-calls.ts';
import { waitUntilMined } from './wait-until-mined.ts';

export interface DeployInput {
  readonly world: World;
  readonly log: Log;
  readonly network: Network;
  readonly endpoints: readonly string[];
  /** The account that pays for the gas. */
  readonly signer: Signer;
}

/** The outcome of deploying a contract. Anybody may deploy our contracts: the deploying account has no rights over them. */
export type Deployment =
  | { readonly is: 'there_already'; readonly address: string }
  | {
      readonly is: 'deployed';
      readonly address: string;
      readonly hash: string;
      /** The transaction that deployed the CREATE2 deployer, if the deployer was missing, too. */
      readonly deployerHash?: string;
    };

interface Contract {
  readonly address: Hex;
  readonly initCode: Hex;
}

const COLLECTOR: Contract = { address: COLLECTOR_ADDRESS, initCode: COLLECTOR_INIT_CODE };
const DEPOSITS: Contract = { address: DEPOSITS_ADDRESS, initCode: DEPOSITS_INIT_CODE };

/**
 * Deploys the Collector and the contract of deposit addresses where they are missing. Their addresses are computed from their
 * code, so no state has to be stored. After a crash at any point, the next run finds the contracts, or repeats a transaction that
 * is harmless to repeat.
 */
export async function deployContracts({
  world,
  log,
  network,
  endpoints,
  signer,
}: DeployInput): Promise<{ readonly collector: Deployment; readonly depositContract: Deployment }> {
  const chainId = Number(network.chainId.replace('eip155:', ''));
  const blockTimeMs = network.finality?.blockTimeMs ?? 1_000;
  const rpc = createRpc({ world, log, network: network.chainId, chainId, blockTimeMs, endpoints });
  try {
    const context = createEvmContext({ world, network, chainId, rpc, collectors: COLLECTORS });
    const collector = await deploy(context, signer, COLLECTOR);
    return { collector, depositContract: await deploy(context, signer, DEPOSITS) };
  } finally {
    rpc.close();
  }
}

async function deploy(context: EvmContext, signer: Signer, contract: Contract): Promise<Deployment> {
  const { rpc } = context;
  const { address } = contract;
  if (await rpc.call(hasCodeCall(address))) return { is: 'there_already', address };
  const hasDeployer = await rpc.call(hasCodeCall(CREATE2_DEPLOYER));
  const deployer = hasDeployer ? {} : { deployerHash: await deployDeployer(context, signer) };
  const hash = await send(context, signer, contract);
  await waitUntilMined(context, hash);
  if (!(await rpc.call(hasCodeCall(address))))
    throw new DeploymentError(`Transaction ${hash} was mined, and created nothing.`);
  return { is: 'deployed', address, hash, ...deployer };
}

async function send(context: EvmContext, signer: Signer, { initCode }: Contract): Promise<Hex> {
  const { rpc } = context;
  const data = `${COLLECTOR_SALT}${initCode.slice(2)}` as Hex;
  const from = signer.address.toLowerCase();
  const [gas, nonce, fees] = await Promise.all([
    rpc.call({
      method: 'eth_estimateGas',
      params: [{ from, to: CREATE2_DEPLOYER, data }],
      read: readQuantity,
      // If the sender has too little coin for the gas, nodes that check the balance refuse the estimate. On other nodes, the call
      // to the deployer reverts. Both give 0.
      readError: (error) => (isShort(error) || readRevert(error) !== undefined ? { value: 0n } : undefined),
    }),
    rpc.call({ method: 'eth_getTransactionCount', params: [from, 'latest'], read: readNumber }),
    suggestFees(context),
  ]);
  if (gas === 0n)
    throw new DeploymentError(`${signer.address} cannot deploy it: the coins it has may not pay for the gas.`);
  const transaction = { to: CREATE2_DEPLOYER, data, gas: (gas * 5n) / 4n };
  const { hash, bytes } = await sign(context, signer, { slot: nonce, offer: offerOf(fees) }, transaction);
  const outcome = await rpc.call(broadcastCall(bytes));
  if (outcome === 'accepted' || outcome === 'known') return hash as Hex;
  throw new DeploymentError(
    outcome === 'short_balance'
      ? `${signer.address} has not enough coins to pay for the gas.`
      : `${signer.address} is sending other transactions at this moment: try again.`,
  );
}
