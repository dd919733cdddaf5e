import { SAMPLE_ORIGIN } from './sample.ts';

/** The story of all examples in the reference: Corner Coffee takes 10.00 USD, and is paid in USDC on Base. */

export const MERCHANT_ID = 'mrch_01KHRZ4M7KA1M3N5P7Q9R1S3T5';
export const PAYMENT_ID = 'pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6';
export const SETTLEMENT_ID = 'crypto_01KHRZ52NWC3P5Q7R9S1T3V5W7';
export const USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
export const PAYER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
export const SHOP_ACCOUNT = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
export const FEE_ACCOUNT = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';
export const COLLECTOR = '0x005CE28BE7dC9eAea013Bbd2790c45FeaDF9290A';
export const COMMITMENT = '0xb86298f9447d8443936b76e92fb51f2c54e9b119c708d2a8433113bedd48d2ea';
export const TRANSACTION = '0x4c6c0d5fb99c73522d5567e14d45c7ab9110def194d8e2e869464d2fe20b31fc';
export const SIGNATURE = `0x${'8f3a1c'.repeat(21)}8f1b`;
export const OPTION_ID = 'AR8kz3vQ0mB7pYc2nLw5uX9dGh4sTf6jKe1rVa0iZoP';
export const CREATED_AT = '2026-02-18T09:30:00.000Z';
export const PAID_AT = '2026-02-18T09:30:41.250Z';
export const EXPIRES_AT_S = 1_771_407_300;

export const PRICE = {
  unit: 'iso4217/USD',
  value: '1000',
  display: { assetSymbol: 'USD', assetName: 'US Dollar', decimals: 2 },
};

export function usdc(value: string) {
  return {
    unit: `caip19/${USDC}`,
    value,
    display: {
      assetSymbol: 'USDC',
      assetName: 'USD Coin',
      decimals: 6,
      networkName: 'Base',
      iconUrl: `${SAMPLE_ORIGIN}/icons/token/USDC.svg`,
      networkIconUrl: `${SAMPLE_ORIGIN}/icons/network/eip155-8453.svg`,
    },
  };
}

export const MERCHANT = {
  id: MERCHANT_ID,
  name: 'Corner Coffee',
  email: 'owner@corner-coffee.example',
  status: 'active',
  createdAt: CREATED_AT,
};
export const DESTINATION = { id: SETTLEMENT_ID, asset: USDC, destination: `eip155:8453:${SHOP_ACCOUNT}` };
export const DESTINATIONS = { crypto: [DESTINATION], fiat: [] };
