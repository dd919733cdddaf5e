import type {
  AcceptedAssets,
  Branding,
  BrandingChange,
  ChangedMerchant,
  CreatedMerchant,
  Deleted,
  ListedMerchant,
  Merchant,
  MerchantChange,
  MerchantPage,
  MerchantQuery,
  NewMerchant,
} from './api-types.ts';
import { type CallOptions, type Connection, segment } from './connection.ts';
import { type List, listOf } from './list.ts';

const PATH = '/v1/merchants';

export function merchantsOf(connection: Connection) {
  return {
    /**
     * Creates a merchant, the receiver of payments.
     *
     * @example
     * const merchant = await till.merchants.create(
     *   { merchantName: 'Corner Coffee', merchantEmail: 'owner@corner-coffee.example' },
     *   { idempotencyKey: 'corner-coffee' },
     * );
     * console.log(merchant.id);
     */
    async create(merchant: NewMerchant, options?: CallOptions): Promise<CreatedMerchant> {
      const call = { method: 'POST', path: PATH, body: merchant } as const;
      return (await connection.ask<{ merchant: CreatedMerchant }>(call, options)).merchant;
    },

    /**
     * A merchant with its settlement destinations.
     *
     * @example
     * const { name, settlements } = await till.merchants.get(merchantId);
     * console.log(name, settlements.crypto.length);
     */
    async get(id: string, options?: CallOptions): Promise<Merchant> {
      const call = { method: 'GET', path: `${PATH}/${segment(id)}` } as const;
      return (await connection.ask<{ merchant: Merchant }>(call, options)).merchant;
    },

    /**
     * The merchants that the API key may act for.
     *
     * @example
     * for await (const merchant of till.merchants.list({ status: 'active' })) console.log(merchant.name);
     */
    list(query: MerchantQuery = {}, options?: CallOptions): List<MerchantPage, ListedMerchant> {
      return listOf(connection, { path: PATH, query: { ...query } }, ({ merchants }) => merchants, options);
    },

    /**
     * Changes the given fields of a merchant.
     *
     * @example
     * await till.merchants.update(merchantId, { merchantName: 'Corner Coffee Roasters' });
     */
    async update(id: string, change: MerchantChange, options?: CallOptions): Promise<ChangedMerchant> {
      const call = { method: 'PATCH', path: `${PATH}/${segment(id)}`, body: change } as const;
      return (await connection.ask<{ merchant: ChangedMerchant }>(call, options)).merchant;
    },

    /**
     * The logo and the accent colour of the pages that payers see.
     *
     * @example
     * const { logoUrl, accentColor } = await till.merchants.branding(merchantId);
     * console.log(logoUrl, accentColor);
     */
    async branding(id: string, options?: CallOptions): Promise<Branding> {
      const call = { method: 'GET', path: `${PATH}/${segment(id)}/branding` } as const;
      return (await connection.ask<{ branding: Branding }>(call, options)).branding;
    },

    /**
     * Changes the given fields of the branding. A colour with too little contrast is refused.
     *
     * @example
     * await till.merchants.updateBranding(merchantId, { accentColor: '#635bff', poweredBy: false });
     */
    async updateBranding(id: string, change: BrandingChange, options?: CallOptions): Promise<Branding> {
      const call = { method: 'PATCH', path: `${PATH}/${segment(id)}/branding`, body: change } as const;
      return (await connection.ask<{ branding: Branding }>(call, options)).branding;
    },

    /**
     * The assets that all merchants of the partner accept. Null means that there is no limit. A merchant can accept fewer: see
     * `acceptedAssets` of `update`.
     *
     * @example
     * const accepted = await till.merchants.acceptedAssets();
     * console.log(accepted ?? 'everything');
     */
    async acceptedAssets(options?: CallOptions): Promise<AcceptedAssets | null> {
      const call = { method: 'GET', path: '/v1/accepted-assets' } as const;
      return (await connection.ask<{ acceptedAssets: AcceptedAssets | null }>(call, options)).acceptedAssets;
    },

    /**
     * Sets the assets that all merchants of the partner accept. Payments that were created before keep their own lists.
     *
     * @example
     * await till.merchants.setAcceptedAssets(null);
     */
    async setAcceptedAssets(list: AcceptedAssets | null, options?: CallOptions): Promise<AcceptedAssets | null> {
      const call = { method: 'PUT', path: '/v1/accepted-assets', body: { acceptedAssets: list } } as const;
      return (await connection.ask<{ acceptedAssets: AcceptedAssets | null }>(call, options)).acceptedAssets;
    },

    /**
     * Deletes a merchant. Its existing payments can still be paid.
     *
     * @example
     * const { id: formerId } = await till.merchants.create({
     *   merchantName: 'Closing soon',
     *   merchantEmail: 'shop@example.com',
     * });
     * await till.merchants.delete(formerId);
     */
    delete(id: string, options?: CallOptions): Promise<Deleted> {
      return connection.ask({ method: 'DELETE', path: `${PATH}/${segment(id)}` }, options);
    },
  };
}
