import { SignerRefusedError } from '../../chains/signable.ts';
import { raiseAlert } from '../alerts.ts';
import type { RelayDeps, Relayer } from './relayer.ts';

/** Returns the refusal of the signer as a value. Other errors are thrown. */
export function unlessRefused<T>(signing: Promise<T>): Promise<T | SignerRefusedError> {
  return signing.catch((error: unknown) => {
    if (error instanceof SignerRefusedError) return error;
    throw error;
  });
}

/** Raises one alert for each network, with the newest refusal. */
export function alertSignerRefused(
  deps: RelayDeps,
  { id, signer }: Relayer,
  content: string,
  reason: string,
): Promise<void> {
  const message = `The external signer refuses a transaction of ${signer.address} with ${content}: ${reason}`;
  return raiseAlert(deps, { name: 'signer_refused', subject: id.network, message });
}
