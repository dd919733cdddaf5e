// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/**
 * An implementation that the admin of a token puts behind its proxy: it does what the honest one does, in the storage of the
 * proxy, and plays its trick on everybody who pulls money with a signature.
 */
contract HostileDollar {
    enum Trick {
        TakesFee,
        BurnsGas,
        Reenters,
        RevertsWithKilobytes
    }

    bytes4 private constant RECEIVE_BY_KEY = 0xef55bec6;
    bytes4 private constant RECEIVE_BY_WALLET = 0x88b7ab63;

    address private immutable honest;
    Trick private immutable trick;

    constructor(address honest_, Trick trick_) {
        honest = honest_;
        trick = trick_;
    }

    fallback(bytes calldata data) external returns (bytes memory answer) {
        answer = _asHonest(data);
        if (msg.sig != RECEIVE_BY_KEY && msg.sig != RECEIVE_BY_WALLET) return answer;
        if (trick == Trick.BurnsGas) while (true) {}
        if (trick == Trick.TakesFee) {
            uint256 value = uint256(bytes32(data[68:100]));
            _asHonest(abi.encodeWithSignature("transfer(address,uint256)", address(this), value / 100));
        }
        if (trick == Trick.Reenters) {
            // The caller's own entry: everything in it was accepted just now.
            (bool isDone,) = msg.sender.call(abi.encodeWithSignature("collectByKey(address,address,uint256)", this, this, 1));
            require(isDone, "HostileDollar: kept out");
        }
        if (trick == Trick.RevertsWithKilobytes) {
            assembly {
                revert(0, 0x10000)
            }
        }
    }

    function _asHonest(bytes memory data) private returns (bytes memory) {
        (bool isDone, bytes memory answer) = honest.delegatecall(data);
        if (isDone) return answer;
        assembly {
            revert(add(answer, 0x20), mload(answer))
        }
    }
}
