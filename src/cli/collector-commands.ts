import { recordCommand } from '../actions/record-command.ts';
import { ChainUnavailableError } from '../chains/chain-errors.ts';
import { type Deployment, deployContracts } from '../chains/evm/deploy-contracts.ts';
import { DeploymentError } from '../chains/evm/deployment-error.ts';
import { ApiError } from '../errors.ts';
import { relayersOf } from '../settings/chains.ts';
import { configuredNetworks } from './chains.ts';
import { type Command, command, operatorOf } from './command.ts';
import { type Context, withDatabase } from './connect.ts';
import { id } from './kinds.ts';
import { required } from './options.ts';

const deploy = command({
  name: 'collector deploy',
  summary:
    'Deploy the Collector, the contract of deposit addresses and the CREATE2 deployer on a network where they are missing.',
  options: { network: required({ ...id, placeholder: 'caip2' }, 'The network, as in RPC_URLS.') },
  examples: ['collector deploy --network eip155:84532'],
  run: async (context, { network: chainId }) => {
    const networks = await configuredNetworks(context);
    const inUse = networks.find(({ network }) => network.chainId === chainId);
    if (inUse === undefined) {
      const known = networks.map(({ network }) => network.chainId).join(', ');
      throw new ApiError('invalid_params', `RPC_URLS does not contain that network. It contains ${known}.`);
    }
    const [signer] = relayersOf(context, inUse.network);
    if (signer === undefined) {
      throw new ApiError(
        'executor_not_found',
        `RELAYER_KEYS has no key for ${chainId}: a relayer must pay for the transaction.`,
      );
    }
    const { collector, depositContract } = await recorded(context, chainId, signer.address, () =>
      deployContracts({ ...context, ...inUse, signer }).catch(asRefusal),
    );
    const { name } = inUse.network;
    const text = `${textOf('The Collector', collector, name)}\n${textOf('The contract of deposit addresses', depositContract, name)}`;
    return { json: { network: chainId, ...collector, depositContract }, text };
  },
});

export const collectorCommands: readonly Command[] = [deploy];

/**
 * Runs the deployment, and records it in the audit log if a database is configured. Operators may deploy before they have a
 * database.
 */
function recorded<T extends object>(context: Context, network: string, signer: string, work: () => Promise<T>) {
  if (context.config.databaseUrl === undefined) return work();
  const about = { action: 'collector.deploy', subject: network, detail: { signer } };
  return withDatabase(context, (deps) => recordCommand(deps, { ...about, actor: operatorOf(context.config) }, work));
}

function textOf(contract: string, deployment: Deployment, network: string): string {
  const where = `${deployment.address} on ${network}`;
  if (deployment.is === 'there_already') return `${contract} was there before, at ${where}.`;
  const { hash, deployerHash } = deployment;
  const before = deployerHash && `The CREATE2 deployer was missing, and was deployed by transaction ${deployerHash}.\n`;
  return `${before ?? ''}${contract} is now at ${where}, by transaction ${hash}.`;
}

function asRefusal(error: unknown): never {
  if (error instanceof DeploymentError) throw new ApiError('invalid_state', error.message);
  if (error instanceof ChainUnavailableError) throw new ApiError('invalid_state', error.message);
  throw error;
}
