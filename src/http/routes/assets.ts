import { Type } from 'typebox';
import { isOffered } from '../../chains/network.ts';
import { isTestNetwork } from '../../chains/registry.ts';
import type { App, HttpDeps } from '../deps.ts';
import { callerRights } from '../entry/caller.ts';
import { networkIconUrl, tokenIconUrl } from '../views/icons.ts';

const READ = { scheme: 'partner', scope: 'merchants:read' } as const;

/** Routes for the assets that payers can pay with now. Only these assets need a settlement destination. */
export async function assetRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get('/v1/assets', { schema: LIST, config: { access: READ } }, async (request) => {
    const isLive = callerRights(request).mode === 'live';
    const offered = deps.chains
      .list()
      .filter(({ chain }) => isTestNetwork(deps.registry, chain.network.chainId) !== isLive);
    const assets = offered.flatMap(({ chain: { network }, payable }) =>
      payable().flatMap((asset) => {
        const known = deps.registry.asset(asset);
        if (known === undefined || !isOffered(known)) return [];
        const { symbol, name, decimals } = known;
        const icons = {
          iconUrl: tokenIconUrl(deps.config, asset),
          networkIconUrl: networkIconUrl(deps.config, network.chainId),
        };
        return [{ asset, symbol, name, decimals, network: network.chainId, networkName: network.name, ...icons }];
      }),
    );
    return { assets };
  });
}

const LIST = {
  tags: ['Settlement destinations'],
  operationId: 'listAssets',
  summary: 'List assets',
  description:
    'The assets that payers can pay with now, in the mode of the caller. A merchant without a destination for one of them has its money held.',
  response: {
    200: Type.Object(
      {
        assets: Type.Array(
          Type.Object(
            {
              asset: Type.String({ description: 'CAIP-19.' }),
              symbol: Type.String(),
              name: Type.String(),
              decimals: Type.Integer({ minimum: 0 }),
              network: Type.String({ description: 'CAIP-2.' }),
              networkName: Type.String(),
              iconUrl: Type.String(),
              networkIconUrl: Type.String(),
            },
            { title: 'Asset' },
          ),
        ),
      },
      { description: 'The assets.' },
    ),
  },
};
