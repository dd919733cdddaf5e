// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/**
 * The proxy in front of a test token, like that of Circle's tokens: it delegates every call to its implementation. Its
 * admin can only administer it: calls of the admin never reach the token.
 */
contract TestProxy {
    /// `keccak256("org.zeppelinos.proxy.implementation")`: older than EIP-1967, and still in use by USDC.
    bytes32 private constant IMPLEMENTATION_SLOT = 0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3;
    /// `keccak256("org.zeppelinos.proxy.admin")`.
    bytes32 private constant ADMIN_SLOT = 0x10d6a54a4754c8869d6886b5f5d7fbfa5b4522237ea5c60d11bc4e7a1ff9390b;

    event Upgraded(address implementation);

    /// A sandbox writes both slots into its first state instead.
    constructor(address implementation, address admin) {
        assembly ("memory-safe") {
            sstore(IMPLEMENTATION_SLOT, implementation)
            sstore(ADMIN_SLOT, admin)
        }
    }

    function upgradeTo(address implementation) external {
        if (msg.sender != _read(ADMIN_SLOT)) {
            _delegate();
        } else {
            assembly ("memory-safe") {
                sstore(IMPLEMENTATION_SLOT, implementation)
            }
            emit Upgraded(implementation);
        }
    }

    fallback() external {
        require(msg.sender != _read(ADMIN_SLOT), "Cannot call fallback function from the proxy admin");
        _delegate();
    }

    /// Ends the call with the return data or revert data of the implementation.
    function _delegate() private {
        address implementation = _read(IMPLEMENTATION_SLOT);
        assembly {
            calldatacopy(0, 0, calldatasize())
            let isDone := delegatecall(gas(), implementation, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch isDone
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }

    function _read(bytes32 slot) private view returns (address value) {
        assembly ("memory-safe") {
            value := sload(slot)
        }
    }
}
