// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A wallet contract (ERC-1271) whose check asks itself, `depth` calls deep, and burns all gas there. A call that fails is a no.
contract DeepWallet {
    uint256 private immutable depth;

    constructor(uint256 depth_) {
        depth = depth_;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        return _ask(depth) ? this.isValidSignature.selector : bytes4(0);
    }

    function ask(uint256 left) external view returns (bool) {
        if (left == 0) while (true) {}
        return _ask(left);
    }

    function _ask(uint256 left) private view returns (bool isYes) {
        try this.ask(left - 1) returns (bool answer) {
            isYes = answer;
        } catch {}
    }
}
