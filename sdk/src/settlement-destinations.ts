import type { Deleted, NewDestinations, SettlementDestination, SettlementDestinations } from './api-types.ts';
import { type CallOptions, type Connection, segment } from './connection.ts';

export function settlementDestinationsOf(connection: Connection) {
  return {
    /**
     * The accounts that receive a merchant's money.
     *
     * @example
     * const { crypto } = await till.settlementDestinations.list(merchantId);
     * for (const { asset, destination } of crypto) console.log(asset, destination);
     */
    list(merchantId: string, options?: CallOptions): Promise<SettlementDestinations> {
      return connection.ask({ method: 'GET', path: pathOf(merchantId) }, options);
    },

    /**
     * Adds settlement destinations: for each asset, an account on the network of that asset.
     *
     * @example
     * const [added] = await till.settlementDestinations.create(merchantId, [
     *   {
     *     asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
     *     destination: 'eip155:8453:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
     *   },
     * ]);
     * console.log(added.id);
     */
    async create(
      merchantId: string,
      settlements: NewDestinations['settlements'],
      options?: CallOptions,
    ): Promise<SettlementDestination[]> {
      const call = { method: 'POST', path: `${pathOf(merchantId)}/crypto`, body: { settlements } } as const;
      return (await connection.ask<{ settlements: SettlementDestination[] }>(call, options)).settlements;
    },

    /**
     * Changes the account of a destination. The change takes effect after the cooling-off period of the gateway; until then the new
     * account is in `pendingDestination`.
     *
     * @example
     * const changed = await till.settlementDestinations.update(merchantId, destinationId, {
     *   destination: 'eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
     * });
     * console.log(changed.effectiveAt ?? 'at once');
     */
    update(
      merchantId: string,
      id: string,
      change: { readonly destination: string },
      options?: CallOptions,
    ): Promise<SettlementDestination> {
      return connection.ask(
        { method: 'PUT', path: `${pathOf(merchantId)}/crypto/${segment(id)}`, body: change },
        options,
      );
    },

    /**
     * Removes a destination. The operator then holds the merchant's money in that asset.
     *
     * @example
     * await till.settlementDestinations.delete(merchantId, destinationId);
     */
    delete(merchantId: string, id: string, options?: CallOptions): Promise<Deleted> {
      const path = `${pathOf(merchantId)}/crypto/${segment(id)}`;
      // The request is not repeatable: if the first one was carried out, the second one gets 404.
      return connection.ask({ method: 'DELETE', path, isRepeatable: false }, options);
    },
  };
}

function pathOf(merchantId: string): string {
  return `/v1/merchants/${segment(merchantId)}/settlements`;
}
