/** The error if the chain is unreachable. The message never contains an endpoint's address or answer. */
export class ChainUnavailableError extends Error {
  readonly network: string;
  constructor(network: string, reason: string) {
    super(`${network}: ${reason}`);
    this.name = 'ChainUnavailableError';
    this.network = network;
  }
}

/** The answer of a chain. Undefined if the chain is unreachable. */
export function unlessUnavailable<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (error instanceof ChainUnavailableError) return undefined;
    throw error;
  });
}

/**
 * The chain answered, but a contract does not follow its standard: it reverted, returned another form, or does not exist. The
 * endpoints are fine. Only the asset or item that needs this contract is affected.
 */
export class ContractFaultError extends Error {
  readonly contract: string;
  constructor(contract: string, problem: string) {
    super(`the contract ${contract} ${problem}`);
    this.name = 'ContractFaultError';
    this.contract = contract;
  }
}

/** The sender of a transaction has too little coin for its cost. The items of the transaction are not the cause. */
export class SenderShortError extends Error {
  constructor(sender: string) {
    super(`${sender} cannot pay for its transaction`);
    this.name = 'SenderShortError';
  }
}

/**
 * The error if every endpoint answered, and no answer is readable. A retry will not help, so callers skip the asset or account
 * that they asked about.
 */
export class UnreadableAnswerError extends ChainUnavailableError {
  constructor(network: string, reason: string) {
    super(network, reason);
    this.name = 'UnreadableAnswerError';
  }
}
