print("store-migrate")
