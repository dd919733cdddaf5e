import type { WalletConnectPay, WalletConnectPayOptions } from '@walletconnect/pay';

/** The interface common to all versions. */
export type WalletSdk = Pick<
  InstanceType<typeof WalletConnectPay>,
  'getPaymentOptions' | 'getRequiredPaymentActions' | 'confirmPayment'
>;

interface SdkModule {
  readonly SDK_VERSION: string;
  readonly WalletConnectPay: new (options: WalletConnectPayOptions) => WalletSdk;
}

/** The published versions in use. */
export const SDK_VERSIONS: Readonly<Record<string, () => Promise<SdkModule>>> = {
  '1.1.0': () => import('@walletconnect/pay'),
  '1.0.10': () => import('walletconnect-pay-1-0-10'),
  '1.0.8': () => import('walletconnect-pay-1-0-8'),
};

export interface SdkInput {
  readonly version: string;
  readonly baseUrl: string;
  readonly appId: string;
}

/** A wallet's SDK, pointed at this gateway and otherwise as its vendor made it. */
export async function createSdk({ version, baseUrl, appId }: SdkInput): Promise<WalletSdk> {
  const load = SDK_VERSIONS[version];
  if (load === undefined) throw new Error(`There is no version ${version} of the SDK here.`);
  const { SDK_VERSION, WalletConnectPay } = await load();
  if (SDK_VERSION !== version) throw new Error(`Version ${version} calls itself ${SDK_VERSION}.`);
  return new WalletConnectPay({ appId, baseUrl, logger: 'silent' });
}
