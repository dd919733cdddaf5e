import { ChainUnavailableError } from '../chains/chain.ts';
import { DeploymentError, deployCollector } from '../chains/evm/deploy-collector.ts';
import { ApiError } from '../errors.ts';
import { relayersOf } from '../settings/chains.ts';
import { configuredNetworks } from './chains.ts';
import { type Command, command } from './command.ts';
import { id } from './kinds.ts';
import { required } from './options.ts';

const deploy = command({
  name: 'collector deploy',
  summary: 'Deploy the Collector on a network where it is missing. Its address is the same everywhere.',
  positionals: {},
  options: { network: required({ ...id, placeholder: 'caip2' }, 'The network, as RPC_URLS names it.') },
  examples: ['collector deploy --network eip155:84532'],
  run: async (context, { network: chainId }) => {
    const networks = await configuredNetworks(context);
    const inUse = networks.find(({ network }) => network.chainId === chainId);
    if (inUse === undefined) {
      const known = networks.map(({ network }) => network.chainId).join(', ');
      throw new ApiError('invalid_params', `RPC_URLS does not name that network. It names ${known}.`);
    }
    const [signer] = relayersOf(context, inUse.network);
    if (signer === undefined) {
      throw new ApiError(
        'executor_not_found',
        `RELAYER_KEYS has no key for ${chainId}: somebody must pay for the gas.`,
      );
    }
    const deployment = await deployCollector({ ...context, ...inUse, signer }).catch(asRefusal);
    const where = `${deployment.address} on ${inUse.network.name}`;
    const text =
      deployment.is === 'deployed'
        ? `The Collector is now at ${where}, by transaction ${deployment.hash}.`
        : `Nothing to do: the Collector is at ${where}.`;
    return { json: { network: chainId, ...deployment }, text };
  },
});

export const collectorCommands: readonly Command[] = [deploy];

function asRefusal(error: unknown): never {
  if (error instanceof DeploymentError) throw new ApiError('invalid_state', error.message);
  if (error instanceof ChainUnavailableError) throw new ApiError('invalid_state', error.message);
  throw error;
}
