import { Type } from 'typebox';
import { acceptedByAll } from '../../domain/accepted-assets.ts';
import type { App, HttpDeps } from '../deps.ts';
import { callerRights, merchantOf } from '../entry/caller.ts';
import { currenciesPaidWith } from '../views/currencies.ts';
import { MerchantParams } from './merchants.ts';

/**
 * The access for reading the currencies. The right to read payments is enough: cashiers have no other right, and choose a
 * currency at the point of sale.
 */
const READ = { scheme: 'partner', scope: 'payments:read', merchant: 'path' } as const;

/** The currencies that a merchant can ask for. */
export async function currencyRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.get('/v1/merchants/:merchantId/currencies', { schema: GET, config: { access: READ } }, async (request) => {
    const { partnerAccepted, acceptedAssets } = merchantOf(request);
    const accepted = acceptedByAll([partnerAccepted, acceptedAssets]);
    return { currencies: currenciesPaidWith(deps, { mode: callerRights(request).mode, accepted }) };
  });
}

const GET = {
  tags: ['Merchants'],
  operationId: 'listMerchantCurrencies',
  summary: 'List the currencies of a merchant',
  description:
    'The currencies of prices that the accepted assets of the merchant can pay, at par or by a rate, for forms that let people choose one.',
  params: MerchantParams,
  response: {
    200: Type.Object(
      {
        currencies: Type.Array(
          Type.Object(
            {
              code: Type.String({ description: 'ISO 4217.', examples: ['USD'] }),
              decimals: Type.Integer({ description: 'The decimals of an amount in minor units.', examples: [2] }),
            },
            { title: 'MerchantCurrency' },
          ),
        ),
      },
      { title: 'MerchantCurrencies', description: 'The currencies.' },
    ),
  },
};
