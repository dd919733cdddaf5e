/** The error if a contract could not be deployed. The message is a sentence for the operator. */
export class DeploymentError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DeploymentError';
  }
}
