export const MERCHANT_STATUSES = ['active', 'inactive', 'suspended'] as const;

export type MerchantStatus = (typeof MERCHANT_STATUSES)[number];
