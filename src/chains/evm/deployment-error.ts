/** A contract could not be deployed, in a sentence for the operator. */
export class DeploymentError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DeploymentError';
  }
}
